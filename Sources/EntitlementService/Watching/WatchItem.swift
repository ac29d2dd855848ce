package import EntitlementStore
package import NIOCore

/// The next thing that a watcher is told.
package struct WatchItem: Sendable {
  /// Where to go on after this item.
  package let cursor: WatchCursor
  /// Nil when only the cursor moves.
  package let change: Change?
  /// The customer's, with the change in it and perhaps with later ones. Nil when it is not asked for,
  /// when no customer is known, and when the catalog does not name the app or environment any more.
  package let state: ByteBuffer?
}
