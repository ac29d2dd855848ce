/// A limit on pending work that one source cannot use up for all others.
///
/// A source may have as much as is free for the others: one source at most half of the limit, two a
/// third each, and so on. So a source that has little is admitted whatever the others do. This is
/// the rule of ``WorkerPool``, for work of equal size.
package struct SourceShares: Sendable {
  private let limit: Int
  private var counts: [WorkSource: Int] = [:]
  /// Admitted work that has not ended, of all sources.
  package private(set) var pending = 0

  package init(limit: Int) {
    self.limit = limit
  }

  /// - Returns: whether there is room. Then ``ended(_:)`` must follow once.
  package mutating func admit(_ source: WorkSource) -> Bool {
    let count = counts[source] ?? 0
    let free = limit - pending - 1
    // Where the limit is one, half of it would be nothing.
    guard free >= 0, source == .server || pending == 0 || count < free else { return false }
    pending += 1
    counts[source] = count + 1
    return true
  }

  /// Work that was admitted has ended. Only sources with pending work use memory.
  package mutating func ended(_ source: WorkSource) {
    guard let count = counts.removeValue(forKey: source) else { return }
    pending -= 1
    if count > 1 { counts[source] = count - 1 }
  }
}
