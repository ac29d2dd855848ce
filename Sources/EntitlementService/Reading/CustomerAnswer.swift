package import EntitlementDomain
package import EntitlementStore
package import NIOCore

/// A state as the front sends it.
package struct EncodedState: Sendable {
  package let bytes: ByteBuffer
  /// Where `bytes` has the moment of the state; nil if the front cannot replace it there.
  package let momentOffset: Int?

  package init(_ bytes: ByteBuffer, momentOffset: Int? = nil) {
    self.bytes = bytes
    self.momentOffset = momentOffset
  }
}

/// A state that was computed for a customer, with the conditions under which it may be served. A
/// class, so that a look-up copies one reference.
package final class EvaluatedAnswer: Sendable {
  package let encoded: EncodedState
  package let revision: Int64
  /// The moment for which the state was computed, and that its bytes contain.
  package let evaluatedAt: Milliseconds
  /// The answer is valid before this moment (R30). Nil if only a new fact can change it.
  package let validUntil: Milliseconds?
  /// True if neither time nor another catalog has changed the state since this revision was
  /// committed. Every answer with this revision is then equal to this one.
  package let isUnchangedSinceRevision: Bool
  /// The customer whose changes invalidate the answer. Nil if the answer must not be cached.
  package let subject: CustomerSubject?

  package init(
    encoded: EncodedState, revision: Int64, evaluatedAt: Milliseconds, validUntil: Milliseconds?,
    isUnchangedSinceRevision: Bool, subject: CustomerSubject?
  ) {
    self.encoded = encoded
    self.revision = revision
    self.evaluatedAt = evaluatedAt
    self.validUntil = validUntil
    self.isUnchangedSinceRevision = isUnchangedSinceRevision
    self.subject = subject
  }

  /// Whether the state of a moment is this one, except for the moment itself.
  func isValid(at moment: Milliseconds) -> Bool {
    validUntil.map { moment < $0 } ?? true
  }
}

/// The answer to one call: a state, and the moment of the call.
package struct CustomerAnswer: Sendable {
  package let evaluated: EvaluatedAnswer
  /// The moment that the caller is told as that of the state.
  package let moment: Milliseconds

  /// An answer as it was computed.
  package init(_ evaluated: EvaluatedAnswer) {
    self.evaluated = evaluated
    moment = evaluated.evaluatedAt
  }

  /// An answer of the present, which was computed before. The moment does not go back, even if the
  /// clock does, and does not reach the next transition.
  init(_ evaluated: EvaluatedAnswer, at now: Milliseconds) {
    self.evaluated = evaluated
    moment = evaluated.isValid(at: now) ? max(now, evaluated.evaluatedAt) : evaluated.evaluatedAt
  }

  /// The state, with the moment for which it was computed.
  package var encoded: EncodedState { evaluated.encoded }

  package var revision: Int64 { evaluated.revision }

  /// See ``EvaluatedAnswer/isUnchangedSinceRevision``.
  package var isUnchangedSinceRevision: Bool { evaluated.isUnchangedSinceRevision }
}
