import AppStorePayloads
import Cryptography
import EntitlementDomain

/// The result of verifying a signed payload, one verdict for each cause. Raw values are those of
/// the wire protocol.
package enum Verdict: Int, Hashable, Sendable, CaseIterable {
  case ok = 1
  /// Not three base64url parts with a JSON object as header and payload, or a payload without a
  /// required field.
  case malformed = 2
  /// An algorithm that is not supported, or critical header parameters (`crit`).
  case unsupportedAlgorithm = 3
  /// Not three certificates with Apple's marker extensions, and not a single root that the operator
  /// named.
  case invalidCertificate = 4
  /// The certificates do not lead to a trusted root.
  case untrustedChain = 5
  /// A certificate was not valid at the validation time.
  case certificateExpired = 6
  case certificateRevoked = 7
  /// No decision: the same payload may be accepted later.
  case retryable = 8
  case invalidSignature = 9
  /// Authentic, but for an app that is not accepted.
  case wrongApp = 10
  /// Authentic, but from an environment that is not accepted, or without an environment.
  case wrongEnvironment = 11
  /// An authentic receipt, but for another device.
  case wrongDevice = 12
  /// Authentic, but the caller may not submit for its app and environment.
  case appNotPermitted = 13

  /// The name in JSON, logs and messages.
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
    case .appNotPermitted: "APP_NOT_PERMITTED"
    }
  }
}

/// Why a signed payload is not accepted.
package struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// Never ``Verdict/ok``.
  package let verdict: Verdict
  /// One sentence without a full stop, for messages. It never contains values of the payload.
  package let detail: String

  package init(_ verdict: Verdict, _ detail: String) {
    self.verdict = verdict
    self.detail = detail
  }

  package var description: String { "\(verdict.name): \(detail)" }

  /// - Parameter part: the part of the input that could not be read.
  init(_ error: PayloadError, in part: String) {
    switch error.code {
    case .environmentAbsent, .environmentUnknown:
      self.init(.wrongEnvironment, "\(part): \(error.message)")
    default:
      self.init(.malformed, "\(part): \(error.message)")
    }
  }

  /// - Parameters:
  ///   - verdict: the verdict if the data caused the error.
  ///   - part: the part of the input that could not be read.
  init(_ error: CryptographyError, as verdict: Verdict, in part: String) {
    // A library fault says nothing about the payload.
    let isFault = error.code == .libraryFault
    self.init(isFault ? .retryable : verdict, "\(part): \(error.message)")
  }

  /// The same refusal, or for a malformed document that belongs elsewhere, or in another form, one
  /// that says so.
  func naming(_ document: [UInt8], at door: MisplacedDocument.Door) -> Refusal {
    guard verdict == .malformed, let detail = MisplacedDocument(document)?.detail(at: door) else {
      return self
    }
    return Refusal(.malformed, detail)
  }

  /// The same refusal, with the field of the notification that carries the payload.
  func inside(_ kind: SignedKind) -> Refusal {
    Refusal(verdict, "\(kind.notificationField ?? kind.label): \(detail)")
  }
}
