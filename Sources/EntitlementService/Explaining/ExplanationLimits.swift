/// What explaining may cost.
package enum ExplanationLimits {
  /// Bytes of a catalog that comes with the question: far above any real one, and parsed in a
  /// fraction of a second.
  package static let catalogBytes = 1 << 20
  /// Questions that bring a catalog and wait for their turn; people ask them, one at a time.
  package static let queuedCatalogs = 16
}
