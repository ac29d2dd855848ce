package import AccessControl
package import Framing
import Logging
import NIOCore
import Synchronization
import Wire

/// The access control of a server: its credentials, and the count and log of refused calls.
final class AccessGate: Sendable {
  /// Nil: no access control.
  let credentials: CredentialsHolder?
  let refusals = AccessRefusals()
  private let pacing: Mutex<TokenBucket>
  private let logger: Logger

  init(_ credentials: CredentialsHolder?, limits: RPCLimits, logger: Logger) {
    self.credentials = credentials
    pacing = Mutex(
      TokenBucket(
        tokensPerSecond: limits.refusalsPerSecond,
        largestDebt: TimeAmount(RPCLimits.refusalDelay)))
    self.logger = logger
  }

  /// Takes a token for a call without a valid credential.
  ///
  /// - Returns: when the call is answered; nil: at once.
  func answerTime(now: NIODeadline) -> NIODeadline? {
    pacing.withLock { pacing in
      defer { pacing.take(now: now) }
      return pacing.nextToken(now: now)
    }
  }

  /// Counts and logs a refused call.
  ///
  /// - Parameters:
  ///   - caller: its name; nil if it is not known.
  ///   - method: its name in `Protos/`, which the server has.
  ///   - details: what was missing, never a credential.
  func refused(
    _ caller: String?, _ reason: AccessRefusal, peer: RPCPeer, method: String,
    details: @autoclosure () -> [String: String] = [:]
  ) {
    guard let count = refusals.count(AccessRefusals.Key(caller, reason)) else { return }
    var metadata: Logger.Metadata = [
      "reason": "\(reason.rawValue)", "peer": "\(peer.place)", "method": "\(method)",
      "count": .stringConvertible(count),
    ]
    if let caller { metadata["caller"] = "\(caller)" }
    for (key, value) in details() { metadata[key] = "\(value)" }
    logger.warning("calls are refused", metadata: metadata)
  }
}

extension RPCStatus {
  /// The `domain` of `ErrorInfo`.
  private static let accessDomain = "entitle"

  /// - Parameters:
  ///   - details: for `ErrorInfo`.
  ///   - retryDelay: when a refused call may be repeated.
  package init(
    _ refusal: AccessRefusal, details: [String: String] = [:], retryDelay: Duration? = nil
  ) {
    let (code, message): (RPCCode, String) =
      switch refusal {
      case .missing:
        (.unauthenticated, "the call needs a credential: a token in the metadata key authorization")
      case .refused:
        (.unauthenticated, "the credential is not valid")
      case .permission:
        (.permissionDenied, "the caller lacks the permission \(details["permission"] ?? "")")
      case .scope:
        (.permissionDenied, "the caller may not use this app and environment")
      case .rate:
        (.resourceExhausted, "the caller has reached its rate")
      case .inFlight:
        (.resourceExhausted, "the caller has too many calls in flight")
      case .connections:
        (.resourceExhausted, "the caller has too many connections")
      }
    self.init(
      code, message,
      errorInfo: ErrorInfo(
        reason: refusal.rawValue, domain: Self.accessDomain, metadata: details),
      retryDelay: retryDelay)
  }
}
