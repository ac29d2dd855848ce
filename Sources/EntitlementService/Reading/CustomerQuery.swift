package import EntitlementDomain

/// One question: which customer, as of when, and how fresh the answer must be.
package struct CustomerQuery: Hashable, Sendable {
  package var selector: CustomerSelector
  package var scope: AppScope
  package var consistency: Consistency
  /// The moment asked about; nil: now.
  package var at: Milliseconds?

  package init(
    selector: CustomerSelector, scope: AppScope, consistency: Consistency = .minimizeLatency,
    at: Milliseconds? = nil
  ) {
    self.selector = selector
    self.scope = scope
    self.consistency = consistency
    self.at = at
  }
}

/// How fresh an answer must be.
package enum Consistency: Hashable, Sendable {
  /// From memory, where it is held.
  case minimizeLatency
  /// As new as the write that returned this revision of the same customer.
  case atLeastAsFresh(revision: Int64)
  /// From the store.
  case fullyConsistent
}
