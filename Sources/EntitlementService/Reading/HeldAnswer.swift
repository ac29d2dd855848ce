package import EntitlementDomain
package import EntitlementStore

/// What decides whether an answer may still be served.
package class AnswerTerms: @unchecked Sendable {
  // Unchecked since a class with a subclass cannot be checked: all of its properties are constant
  // and sendable, and those of the one subclass are, too.

  package let revision: Int64
  /// The answer holds until just before this moment (R30); nil: until a fact changes it.
  package let validUntil: Milliseconds?
  /// Neither time nor another catalog has changed the state since its revision came to be: who
  /// holds an answer of this revision holds this one.
  package let isUnchangedSinceRevision: Bool
  /// Whose changes put it out of date; nil when it must not be held.
  package let subject: CustomerSubject?

  fileprivate init(
    revision: Int64, validUntil: Milliseconds?, isUnchangedSinceRevision: Bool,
    subject: CustomerSubject?
  ) {
    self.revision = revision
    self.validUntil = validUntil
    self.isUnchangedSinceRevision = isUnchangedSinceRevision
    self.subject = subject
  }
}

/// An answer ready to send. An object, so that a look-up hands out one reference.
package final class HeldAnswer<Encoded: Sendable>: AnswerTerms, @unchecked Sendable {
  package let encoded: Encoded

  package init(
    encoded: Encoded, revision: Int64, validUntil: Milliseconds?, isUnchangedSinceRevision: Bool,
    subject: CustomerSubject?
  ) {
    self.encoded = encoded
    super.init(
      revision: revision, validUntil: validUntil,
      isUnchangedSinceRevision: isUnchangedSinceRevision, subject: subject)
  }
}
