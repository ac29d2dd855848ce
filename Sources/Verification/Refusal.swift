import Cryptography
import EntitlementDomain

/// Why a signed payload is not accepted.
package struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// Never ``Verdict/ok``.
  package let verdict: Verdict
  /// One sentence for people, without full stop. It never holds the payload's values.
  package let detail: String

  package init(_ verdict: Verdict, _ detail: String) {
    self.verdict = verdict
    self.detail = detail
  }

  package var description: String { "\(verdict.name): \(detail)" }

  /// - Parameter part: which part of what was submitted could not be read.
  init(_ error: PayloadError, in part: String) {
    switch error.code {
    case .environmentAbsent, .environmentUnknown:
      self.init(.wrongEnvironment, "\(part): \(error.message)")
    default:
      self.init(.malformed, "\(part): \(error.message)")
    }
  }

  /// - Parameters:
  ///   - verdict: what it means when the data is to blame.
  ///   - part: which part of what was submitted could not be read.
  init(_ error: CryptographyError, as verdict: Verdict, in part: String) {
    // A fault of the library says nothing of the payload.
    let isFault = error.code == .libraryFault
    self.init(isFault ? .retryable : verdict, "\(part): \(error.message)")
  }

  /// The refusal of a payload inside a notification, with the field that carries it.
  func inside(_ kind: SignedKind) -> Refusal {
    Refusal(verdict, "\(kind.notificationField ?? kind.label): \(detail)")
  }
}
