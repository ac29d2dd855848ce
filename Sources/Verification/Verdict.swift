/// What became of a signed payload: one verdict per cause. Raw values are those of the wire.
package enum Verdict: Int, Hashable, Sendable, CaseIterable {
  case ok = 1
  /// Not three base64url parts with a JSON object as header and payload, or a payload that lacks
  /// what its kind cannot be without.
  case malformed = 2
  /// Another algorithm than ES256, or extensions that must be understood (`crit`).
  case unsupportedAlgorithm = 3
  /// Not three certificates with Apple's marks, nor one that the operator named.
  case invalidCertificate = 4
  /// The certificates do not lead to a trusted root.
  case untrustedChain = 5
  /// A certificate was not valid at the moment that is judged.
  case certificateExpired = 6
  case certificateRevoked = 7
  /// Nothing was decided: the same payload may be accepted later.
  case retryable = 8
  case invalidSignature = 9
  /// Authentic, but for an app that is not accepted.
  case wrongApp = 10
  /// Authentic, but from an environment that is not accepted, or from none.
  case wrongEnvironment = 11
  /// An authentic receipt, but made for another device than the one named.
  case wrongDevice = 12

  /// The name by which people and programs know it.
  package var name: String {
    switch self {
    case .ok: "OK"
    case .malformed: "MALFORMED"
    case .unsupportedAlgorithm: "UNSUPPORTED_ALGORITHM"
    case .invalidCertificate: "INVALID_CERTIFICATE"
    case .untrustedChain: "UNTRUSTED_CHAIN"
    case .certificateExpired: "CERTIFICATE_EXPIRED"
    case .certificateRevoked: "CERTIFICATE_REVOKED"
    case .retryable: "RETRYABLE"
    case .invalidSignature: "INVALID_SIGNATURE"
    case .wrongApp: "WRONG_APP"
    case .wrongEnvironment: "WRONG_ENVIRONMENT"
    case .wrongDevice: "WRONG_DEVICE"
    }
  }
}
