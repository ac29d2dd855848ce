/// Something for the log: one for each question, however many payloads wait for its answer.
package struct StatusEvent: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case revoked
    /// The responder does not know the certificate.
    case unknown
    /// There was an answer, but not one that counts.
    case unusable
    /// There was no answer.
    case unreachable
    /// The certificate names nobody who could be asked over `http:`.
    case withoutResponder = "without_responder"
  }

  package let kind: Kind
  /// The certificate's subject in RFC 2253 form.
  package let subject: String
  /// Who was asked; nil where nobody was.
  package let address: String?
  /// For people, without full stop.
  package let detail: String
}
