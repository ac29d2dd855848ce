package import EntitlementDomain

/// One question: why is a customer's state what it is.
package struct ExplanationQuery: Hashable, Sendable {
  package var selector: CustomerSelector
  package var scope: AppScope
  /// The moment asked about; nil: now.
  package var at: Milliseconds?
  /// A catalog file to answer under; nil: the catalog in force.
  package var catalogYAML: String?

  package init(
    selector: CustomerSelector, scope: AppScope, at: Milliseconds? = nil,
    catalogYAML: String? = nil
  ) {
    self.selector = selector
    self.scope = scope
    self.at = at
    self.catalogYAML = catalogYAML
  }
}
