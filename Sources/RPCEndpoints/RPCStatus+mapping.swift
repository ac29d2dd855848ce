import EntitlementService
import Wire

extension RPCStatus {
  /// The one place where errors become statuses of the wire.
  init(mapping error: any Error) {
    switch error {
    case let error as ServiceError: self.init(error)
    case let error as MessageError: self.init(error)
    case let status as RPCStatus: self = status
    case is CancellationError: self.init(.cancelled, "nobody waits for the answer any more")
    default: self.init(.internal, "an unexpected error")
    }
  }

  /// A stream was not read to its end in time.
  static func notRead(within limit: Duration) -> RPCStatus {
    RPCStatus(
      .resourceExhausted, "the stream was not read within \(limit), and is incomplete",
      errorInfo: ErrorInfo(reason: "SLOW_READER", domain: domain))
  }

  /// More is read than can be answered in time.
  static let overloaded = RPCStatus(
    .resourceExhausted, "more is read than can be answered in time",
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
    case .archivesNotAccepted:
      self.init(
        .failedPrecondition, error.message,
        errorInfo: ErrorInfo(reason: "ARCHIVED_RESPONSES_NOT_ACCEPTED", domain: Self.domain))
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
    case .internalFault:
      self.init(.internal, error.message)
    }
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

  /// Whose reasons they are, in `ErrorInfo`.
  private static let domain = "entitle"

  /// How long a caller should wait before it tries again: long enough for a queue to drain, short
  /// enough for a purchase to be waited for.
  private static let retryDelay = Duration.milliseconds(200)
}
