package import EntitlementDomain
package import EntitlementStore

/// An answer ready to send, with what decides whether it may still be served.
package struct HeldAnswer<Encoded: Sendable>: Sendable {
  package let encoded: Encoded
  package let revision: Int64
  /// The answer holds until just before this moment (R30); nil: until a fact changes it.
  package let validUntil: Milliseconds?
  /// Neither time nor another catalog has changed the state since its revision came to be: who
  /// holds an answer of this revision holds this one.
  package let isUnchangedSinceRevision: Bool
  /// Whose changes put it out of date; nil when it must not be held.
  package let subject: CustomerSubject?

  package init(
    encoded: Encoded, revision: Int64, validUntil: Milliseconds?, isUnchangedSinceRevision: Bool,
    subject: CustomerSubject?
  ) {
    self.encoded = encoded
    self.revision = revision
    self.validUntil = validUntil
    self.isUnchangedSinceRevision = isUnchangedSinceRevision
    self.subject = subject
  }
}
