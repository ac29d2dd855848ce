/// The position of a follower of the change feed. Only the store creates and interprets it.
package struct FollowerCursor: Hashable, Sendable {
  /// Every change of the feed up to here was returned.
  package var position: Int64
  /// The latest change that was returned, at least ``position``. It is above ``position`` while an
  /// older transaction is in flight. Later reads have to include it.
  package var latest: Int64
  /// The transactions in flight that may commit below ``latest``, in the store's own format; nil:
  /// none.
  package var inFlight: String?
  /// The history of the database that the numbers belong to, in the store's own format.
  /// Another history may lack returned changes and give their numbers to other changes. Nil: the
  /// store has only one.
  package var history: String?

  /// - Parameter latest: nil: the same as `position`.
  package init(
    position: Int64, latest: Int64? = nil, inFlight: String? = nil, history: String? = nil
  ) {
    self.position = position
    self.latest = max(position, latest ?? position)
    self.inFlight = inFlight
    self.history = history
  }
}

/// A page of the customers that changed since a ``FollowerCursor``.
package struct ChangedCustomers: Hashable, Sendable {
  package var subjects: [CustomerSubject]
  /// The cursor of the next page.
  package var cursor: FollowerCursor
  /// False when there are more pages.
  package var isComplete: Bool

  package init(subjects: [CustomerSubject], cursor: FollowerCursor, isComplete: Bool = true) {
    self.subjects = subjects
    self.cursor = cursor
    self.isComplete = isComplete
  }
}
