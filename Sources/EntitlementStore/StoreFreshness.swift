/// How new an answer of a store must be.
package enum StoreFreshness: Hashable, Sendable {
  /// Every commit that was answered before the call is in it.
  case primary
  /// Every change up to this position of the feed is in it: a copy of the database may answer that
  /// has come so far. One that has not is passed over for the primary.
  case includes(position: Int64)
}
