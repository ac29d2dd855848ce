/// Why a call failed, as it is told to the caller: `google.rpc.Status` with the details that
/// this service uses. Nothing in it may hold a payload, a token or SQL.
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
