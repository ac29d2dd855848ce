package import EntitlementDomain
import EntitlementStore

/// A place in the change feed, as watchers keep it: opaque to them, but "0" is the beginning.
///
/// It says of the last change not only the number but also when it was committed. So it shows when a
/// failover or a restored backup took that change away and gave its number to another one.
package struct WatchCursor: Hashable, Sendable, CustomStringConvertible {
  package let position: Int64
  /// Nil: not known, so that only the number counts.
  package let committedAt: Milliseconds?

  package init(position: Int64, committedAt: Milliseconds? = nil) {
    self.position = position
    self.committedAt = committedAt
  }

  init(after change: Change) {
    self.init(position: change.sequence, committedAt: change.committedAt)
  }

  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for a text that was never one.
  package init(parsing text: String) throws(ServiceError) {
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
      .map { Int64($0) ?? -1 }
    self.init(
      position: numbers[0],
      committedAt: numbers.count > 1 ? Milliseconds(numbers[1]) : nil)
    guard position >= 0, description == text else {
      throw ServiceError(
        .invalidArgument(field: "cursor"), "no watch of this feed has told this cursor")
    }
  }

  package var description: String {
    guard let committedAt else { return String(position) }
    return "\(position).\(committedAt.rawValue)"
  }
}

extension EntitlementStore {
  /// Makes sure that the feed can be read on after a cursor: that what it tells of is there, or was
  /// the last that was trimmed.
  ///
  /// - Throws: ``StoreError/Code/cursorExpired`` otherwise.
  func checkFeedReaches(_ cursor: WatchCursor) async throws(StoreError) {
    // The beginning is always there.
    guard cursor.position > 0, let moment = try await momentOfChange(cursor.position) else {
      return
    }
    if let committedAt = cursor.committedAt, committedAt != moment {
      throw StoreError(.cursorExpired, "another change has this number now")
    }
  }

  /// Where the feed ends now.
  func endCursor() async throws(StoreError) -> WatchCursor {
    let end = try await feedEnd()
    return WatchCursor(
      position: end, committedAt: end > 0 ? try await momentOfChange(end) : nil)
  }
}
