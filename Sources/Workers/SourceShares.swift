/// A limit on pending work that one source cannot use up for all others.
///
/// A source may have as much as is free for the others: one source at most half of the limit, two a
/// third each, and so on. So a source that has little is admitted whatever the others do. This is
/// the rule of ``WorkerPool``.
package struct SourceShares: Sendable {
  private let limit: Int
  private var weights: [WorkSource: Int] = [:]
  /// The weight of all admitted work that has not ended.
  package private(set) var pending = 0

  package init(limit: Int) {
    self.limit = limit
  }

  /// - Parameter weight: in the unit of the limit, such as bytes; 1 where work is counted.
  /// - Returns: whether there is room. Then ``ended(_:weight:)`` must follow for the same weight.
  package mutating func admit(_ source: WorkSource, weight: Int = 1) -> Bool {
    let own = (weights[source] ?? 0) + weight
    let free = limit - pending - weight
    // Where the limit is one, half of it would be nothing.
    guard free >= 0, source == .server || pending == 0 || own <= free else { return false }
    pending += weight
    weights[source] = own
    return true
  }

  /// Work that was admitted has ended. Only sources with pending work use memory.
  package mutating func ended(_ source: WorkSource, weight: Int = 1) {
    guard let own = weights.removeValue(forKey: source) else { return }
    pending -= weight
    if own > weight { weights[source] = own - weight }
  }
}
