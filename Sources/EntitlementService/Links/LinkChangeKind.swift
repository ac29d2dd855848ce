/// What somebody may ask for by name (R46). Raw values are parts of counters' names.
package enum LinkChangeKind: String, Hashable, Sendable, CaseIterable {
  case linked
  case unlinked
  case transferred
  case merged
  case deleted
}
