/// The status of a call: `google.rpc.Status` with the details that this project uses.
public struct RPCStatus: Error, Hashable, Sendable {
  /// `google.rpc.ErrorInfo`: a machine-readable reason.
  public struct ErrorInfo: Hashable, Sendable {
    /// In capitals with underscores, such as `SLOW_READER`. The same cause always has the same
    /// reason.
    public var reason: String
    /// The domain that defines the reason, such as `entitle`.
    public var domain: String
    /// Further values of the reason.
    public var metadata: [String: String]

    public init(reason: String, domain: String, metadata: [String: String] = [:]) {
      self.reason = reason
      self.domain = domain
      self.metadata = metadata
    }
  }

  /// `google.rpc.BadRequest.FieldViolation`: one invalid field of the request.
  public struct FieldViolation: Hashable, Sendable {
    /// The path to the field, such as `selector.account_id`.
    public var field: String
    /// Why the field is not valid, in English.
    public var description: String

    public init(field: String, description: String) {
      self.field = field
      self.description = description
    }
  }

  /// The `ErrorInfo` reason of a server that is shutting down. Other servers may still serve.
  package static let shuttingDownReason = "SHUTTING_DOWN"

  /// The code.
  public var code: RPCCode
  /// The reason in English, for logs.
  public var message: String
  /// The reason in a form that programs can compare; nil when there is none.
  public var errorInfo: ErrorInfo?
  /// The time to wait before a retry (`google.rpc.RetryInfo`).
  public var retryDelay: Duration?
  /// The fields of the request that are not valid.
  public var fieldViolations: [FieldViolation]

  public init(
    _ code: RPCCode, _ message: String = "", errorInfo: ErrorInfo? = nil,
    retryDelay: Duration? = nil, fieldViolations: [FieldViolation] = []
  ) {
    self.code = code
    self.message = message
    self.errorInfo = errorInfo
    self.retryDelay = retryDelay
    self.fieldViolations = fieldViolations
  }
}

extension RPCStatus: CustomStringConvertible {
  public var description: String {
    message.isEmpty ? code.name : "\(code.name): \(message)"
  }
}

/// The canonical status codes (`google.rpc.Code`).
public enum RPCCode: UInt8, CaseIterable, Hashable, Sendable {
  /// The call succeeded.
  case ok = 0
  /// The caller cancelled the call.
  case cancelled = 1
  /// An error without a known code.
  case unknown = 2
  /// The request is not valid, whatever the state of the service.
  case invalidArgument = 3
  /// The deadline passed.
  case deadlineExceeded = 4
  /// The subject of the request does not exist.
  case notFound = 5
  /// What the request would make exists already.
  case alreadyExists = 6
  /// The caller may not make this call.
  case permissionDenied = 7
  /// A limit was reached.
  case resourceExhausted = 8
  /// The state of the service does not allow the call.
  case failedPrecondition = 9
  /// The call conflicted with another one.
  case aborted = 10
  /// A value is outside of its valid range.
  case outOfRange = 11
  /// The server does not have this method.
  case unimplemented = 12
  /// The server failed.
  case `internal` = 13
  /// The server cannot answer now; the call may be repeated.
  case unavailable = 14
  /// Data was lost or is corrupt.
  case dataLoss = 15
  /// The caller is not authenticated.
  case unauthenticated = 16

  /// The name as `google.rpc.Code` spells it, such as `INVALID_ARGUMENT`.
  public var name: String {
    switch self {
    case .ok: "OK"
    case .cancelled: "CANCELLED"
    case .unknown: "UNKNOWN"
    case .invalidArgument: "INVALID_ARGUMENT"
    case .deadlineExceeded: "DEADLINE_EXCEEDED"
    case .notFound: "NOT_FOUND"
    case .alreadyExists: "ALREADY_EXISTS"
    case .permissionDenied: "PERMISSION_DENIED"
    case .resourceExhausted: "RESOURCE_EXHAUSTED"
    case .failedPrecondition: "FAILED_PRECONDITION"
    case .aborted: "ABORTED"
    case .outOfRange: "OUT_OF_RANGE"
    case .unimplemented: "UNIMPLEMENTED"
    case .internal: "INTERNAL"
    case .unavailable: "UNAVAILABLE"
    case .dataLoss: "DATA_LOSS"
    case .unauthenticated: "UNAUTHENTICATED"
    }
  }
}
