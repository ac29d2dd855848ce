/// What a rule says of a customer, and since when it confers.
package struct GrandfatheringVerdict: Hashable, Sendable {
  package var state: GrandfatheringState
  /// When the customer got the app (R38); where the App Store does not say: when it signed the
  /// statement that decided. Nil unless granted.
  package var since: Milliseconds?
  /// The authority of the app transaction that decided; nil when none did, or when the catalog
  /// simulates what counts (R35).
  package var evidence: FactAuthority?

  package init(
    state: GrandfatheringState, since: Milliseconds?, evidence: FactAuthority? = nil
  ) {
    self.state = state
    self.since = since
    self.evidence = evidence
  }
}
