/// How far somebody was told who changed. Made and read by the store.
package struct FollowerCursor: Hashable, Sendable {
  /// Every change of the feed up to here was told of.
  package var position: Int64
  /// The latest change that was told of: at least `position`, and beyond it where one that was begun
  /// before has not been committed yet. What is read from now on has to include it.
  package var latest: Int64
  /// What may still be committed below `latest`, in the store's own words; nil: nothing.
  package var underWay: String?
  /// The history of the database that the numbers are of, in the store's own words. Another one may
  /// lack changes that were told of, and give their numbers to others. Nil: there is only one.
  package var history: String?

  /// - Parameter latest: nil: as `position`.
  package init(
    position: Int64, latest: Int64? = nil, underWay: String? = nil, history: String? = nil
  ) {
    self.position = position
    self.latest = max(position, latest ?? position)
    self.underWay = underWay
    self.history = history
  }
}

/// Who changed since a ``FollowerCursor``.
package struct ChangedCustomers: Hashable, Sendable {
  package var subjects: [CustomerSubject]
  /// To ask from next.
  package var cursor: FollowerCursor
  /// Whether this is all; else there is more to ask for.
  package var isWhole: Bool

  package init(subjects: [CustomerSubject], cursor: FollowerCursor, isWhole: Bool = true) {
    self.subjects = subjects
    self.cursor = cursor
    self.isWhole = isWhole
  }
}
