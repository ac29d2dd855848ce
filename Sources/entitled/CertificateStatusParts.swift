import CertificateStatus
import Logging
import Verification

/// What asks for the status of certificates, where the settings want that.
struct CertificateStatusParts: Sendable {
  let checker: StatusChecker
  let responder: HTTPStatusResponder

  /// - Returns: nil when nobody is to be asked.
  init?(policy: StatusPolicy, logger: Logger) {
    guard policy != .off else { return nil }
    responder = HTTPStatusResponder()
    checker = StatusChecker(policy: policy, responder: responder) { event in
      Self.log(event, to: logger)
    }
  }

  private static func log(_ event: StatusEvent, to logger: Logger) {
    var metadata: Logger.Metadata = [
      "outcome": "\(event.kind.rawValue)", "certificate": "\(event.subject)",
      "reason": "\(event.detail)",
    ]
    if let address = event.address { metadata["responder"] = "\(address)" }
    switch event.kind {
    case .revoked:
      logger.error("a certificate was revoked", metadata: metadata)
    case .unknown, .unusable, .unreachable, .withoutResponder:
      logger.warning("the status of a certificate is not known", metadata: metadata)
    }
  }
}
