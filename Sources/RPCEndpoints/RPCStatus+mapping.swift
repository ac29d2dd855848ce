import EntitlementDomain
import EntitlementService
import Framing
import Wire

extension RPCStatus {
  /// Maps every error of a call to its status. The only place that does so.
  init(mapping error: any Error) {
    switch error {
    case let error as ServiceError: self.init(error)
    case let error as MessageError: self.init(error)
    case let status as RPCStatus: self = status
    case is CancellationError: self.init(.cancelled, "the call was cancelled")
    default: self.init(.internal, "an unexpected error")
    }
  }

  /// A stream was not read completely in time.
  static func notRead(within limit: Duration) -> RPCStatus {
    RPCStatus(
      .resourceExhausted, "the stream is incomplete: it was not read within \(limit)",
      errorInfo: ErrorInfo(reason: "SLOW_READER", domain: domain))
  }

  /// A stream that was not read gave its permit to another one.
  static func gaveWay(after patience: Duration) -> RPCStatus {
    RPCStatus(
      .resourceExhausted,
      "the stream is incomplete: it was not read for \(patience) while another export waited",
      errorInfo: ErrorInfo(reason: "SLOW_READER", domain: domain))
  }

  /// Reads are shed because the server is overloaded.
  static let overloaded = RPCStatus(
    .resourceExhausted, "the server is overloaded by reads",
    errorInfo: ErrorInfo(reason: "OVERLOADED", domain: domain), retryDelay: retryDelay)

  private init(_ error: ServiceError) {
    switch error.code {
    case .invalidArgument(let field):
      self.init(
        .invalidArgument, error.message,
        fieldViolations: [FieldViolation(field: field, description: error.message)])
    case .notFound:
      self.init(.notFound, error.message)
    case .alreadyExists:
      self.init(.alreadyExists, error.message)
    case .failedPrecondition:
      self.init(.failedPrecondition, error.message)
    case .outOfRange:
      self.init(.outOfRange, error.message)
    case .accountFull:
      self.init(
        .failedPrecondition, error.message,
        errorInfo: ErrorInfo(reason: "ACCOUNT_FULL", domain: Self.domain))
    case .archivesNotAccepted:
      self.init(
        .failedPrecondition, error.message,
        errorInfo: ErrorInfo(reason: "ARCHIVED_RESPONSES_NOT_ACCEPTED", domain: Self.domain))
    case .offerRefused(let refusal):
      self.init(
        .failedPrecondition, error.message,
        errorInfo: ErrorInfo(
          reason: "OFFER_REFUSED", domain: Self.domain,
          metadata: ["refusal": refusal.name, "rule": "R\(refusal.rule)"]))
    case .offerOverrideRefused(let refusal):
      self.init(
        .failedPrecondition, error.message,
        errorInfo: ErrorInfo(
          reason: "OFFER_OVERRIDE_REFUSED", domain: Self.domain,
          metadata: ["rule": "R84"].merging(refusal.map { ["refusal": $0.name] } ?? [:]) { $1 }))
    case .offerLimit(let delay):
      self.init(
        .resourceExhausted, error.message,
        errorInfo: ErrorInfo(reason: "OFFER_LIMIT", domain: Self.domain), retryDelay: delay)
    case .resourceExhausted:
      self.init(.resourceExhausted, error.message, retryDelay: Self.retryDelay)
    case .overloaded:
      self = .overloaded
    case .tooManyExports:
      self.init(
        .resourceExhausted, error.message,
        errorInfo: ErrorInfo(reason: "TOO_MANY_EXPORTS", domain: Self.domain),
        retryDelay: Self.retryDelay)
    case .deadlineExceeded:
      self.init(.deadlineExceeded, error.message)
    case .cancelled:
      self.init(.cancelled, error.message)
    case .unavailable:
      self.init(.unavailable, error.message, retryDelay: Self.retryDelay)
    case .storageFull:
      self.init(
        .resourceExhausted, error.message,
        errorInfo: ErrorInfo(reason: "STORAGE_FULL", domain: Self.domain))
    case .appStore(let failure):
      self.init(failure, error.message)
    case .internalFault:
      self.init(.internal, error.message)
    }
  }

  /// An error of the App Store Server API. The metadata has what programs may branch on.
  private init(_ failure: AppStoreFailure, _ message: String) {
    let (code, reason): (RPCCode, String) =
      switch failure.kind {
      case .notFound: (.notFound, "APP_STORE_REFUSED")
      case .invalidRequest: (.invalidArgument, "APP_STORE_REFUSED")
      case .refused: (.failedPrecondition, "APP_STORE_REFUSED")
      case .keyRefused: (.failedPrecondition, "APP_STORE_KEY_REFUSED")
      case .rateLimited: (.resourceExhausted, "APP_STORE_RATE_LIMITED")
      case .busy: (.resourceExhausted, "TOO_MANY_APP_STORE_CALLS")
      case .unavailable: (.unavailable, "APP_STORE_UNAVAILABLE")
      case .deadlineExceeded: (.deadlineExceeded, "APP_STORE_UNAVAILABLE")
      case .cancelled: (.cancelled, "APP_STORE_UNAVAILABLE")
      }
    var metadata = ["retryable": "\(failure.isRetryable)"]
    metadata["http_status"] = failure.status.map { "\($0)" }
    metadata["error_code"] = failure.code.map { "\($0)" }
    metadata["error_name"] = failure.name
    if failure.mayHaveTakenEffect { metadata["may_have_taken_effect"] = "true" }
    var delay = failure.retryAfter
    switch failure.kind {
    case .busy, .rateLimited, .unavailable:
      // A client repeats a call that has a delay by itself. Of a change that may have been made, the
      // caller decides.
      if failure.mayHaveTakenEffect {
        delay = nil
      } else if failure.isRetryable {
        delay = delay ?? Self.retryDelay
      }
    default: break
    }
    self.init(
      code, message,
      errorInfo: ErrorInfo(reason: reason, domain: Self.domain, metadata: metadata),
      retryDelay: delay)
  }

  private init(_ error: MessageError) {
    switch error.code {
    case .malformed, .invalid:
      let violation = error.fault.field.map {
        FieldViolation(field: $0, description: error.fault.description)
      }
      self.init(
        .invalidArgument, error.description, fieldViolations: violation.map { [$0] } ?? [])
    case .arenaExhausted:
      self.init(.resourceExhausted, error.description)
    }
  }

  /// The `domain` of `ErrorInfo`.
  private static let domain = "entitle"

  /// The delay before a retry: long enough for a queue to drain, and short for a person who waits
  /// for a purchase.
  private static let retryDelay = Duration.milliseconds(200)
}
