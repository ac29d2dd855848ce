/// What a rule says of a customer, and since when it confers.
package struct GrandfatheringVerdict: Hashable, Sendable {
  package var state: GrandfatheringState
  /// When the customer got the app (R38); where the App Store does not say: when it signed the
  /// statement that decided. Nil unless granted.
  package var since: Milliseconds?

  package init(state: GrandfatheringState, since: Milliseconds?) {
    self.state = state
    self.since = since
  }
}
