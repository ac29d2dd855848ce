package import EntitlementDomain
import EntitlementStore

/// A position in the change feed, which watchers store. It is opaque to them, except that "0" is
/// the start of the feed.
///
/// The cursor has the number of the last change and the time of its commit. The time detects a
/// failover or a restored backup that lost the change and gave its number to another one.
package struct WatchCursor: Hashable, Sendable, CustomStringConvertible {
  package let position: Int64
  /// Nil: not known; only the number is checked.
  package let committedAt: Milliseconds?

  package init(position: Int64, committedAt: Milliseconds? = nil) {
    self.position = position
    self.committedAt = committedAt
  }

  init(after change: Change) {
    self.init(position: change.sequence, committedAt: change.committedAt)
  }

  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for text that is not a
  ///   cursor.
  package init(parsing text: String) throws(ServiceError) {
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
      .map { Int64($0) ?? -1 }
    self.init(
      position: numbers[0],
      committedAt: numbers.count > 1 ? Milliseconds(numbers[1]) : nil)
    guard position >= 0, description == text else {
      throw ServiceError(
        .invalidArgument(field: "cursor"), "the text is not a cursor of this feed")
    }
  }

  package var description: String {
    guard let committedAt else { return String(position) }
    return "\(position).\(committedAt.rawValue)"
  }
}

extension EntitlementStore {
  /// Checks that the feed can be read from a cursor: its change is stored, or was the last one that
  /// was trimmed.
  ///
  /// - Throws: ``StoreError/Code/cursorExpired`` otherwise.
  func checkFeedReaches(_ cursor: WatchCursor) async throws(StoreError) {
    // Position 0 is always valid.
    guard cursor.position > 0, let moment = try await commitTimeOfChange(cursor.position) else {
      return
    }
    if let committedAt = cursor.committedAt, committedAt != moment {
      throw StoreError(.cursorExpired, "another change has the number of the cursor")
    }
  }

  /// The cursor of the current end of the feed.
  func endCursor() async throws(StoreError) -> WatchCursor {
    let end = try await feedEnd()
    return WatchCursor(
      position: end, committedAt: end > 0 ? try await commitTimeOfChange(end) : nil)
  }
}
