public struct RPCStatus: Error, Hashable, Sendable {
  /// `google.rpc.ErrorInfo`: a reason for programs to branch on.
  public struct ErrorInfo: Hashable, Sendable {
    /// In capitals with underscores, such as `SLOW_READER`; constant for one cause.
    public var reason: String
    /// Whose reason it is.
    public var domain: String
    public var metadata: [String: String]

    public init(reason: String, domain: String, metadata: [String: String] = [:]) {
      self.reason = reason
      self.domain = domain
      self.metadata = metadata
    }
  }

  /// `google.rpc.BadRequest.FieldViolation`: one field of the request that is wrong.
  public struct FieldViolation: Hashable, Sendable {
    /// The path to the field, such as `selector.account_id`.
    public var field: String
    public var description: String

    public init(field: String, description: String) {
      self.field = field
      self.description = description
    }
  }

  /// The `ErrorInfo` reason of a server that is about to stop: other servers may still serve.
  package static let shuttingDownReason = "SHUTTING_DOWN"

  public var code: RPCCode
  public var message: String
  public var errorInfo: ErrorInfo?
  /// How long to wait before trying again (`google.rpc.RetryInfo`).
  public var retryDelay: Duration?
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

public enum RPCCode: UInt8, CaseIterable, Hashable, Sendable {
  case ok = 0
  case cancelled = 1
  case unknown = 2
  case invalidArgument = 3
  case deadlineExceeded = 4
  case notFound = 5
  case alreadyExists = 6
  case permissionDenied = 7
  case resourceExhausted = 8
  case failedPrecondition = 9
  case aborted = 10
  case outOfRange = 11
  case unimplemented = 12
  case `internal` = 13
  case unavailable = 14
  case dataLoss = 15
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
