/// Why a call failed, as it is told to the caller: `google.rpc.Status` with the details that
/// this service uses. Nothing in it may hold a payload, a token or SQL.
package struct RPCStatus: Error, Hashable, Sendable {
  /// `google.rpc.ErrorInfo`: a reason for programs to branch on.
  package struct ErrorInfo: Hashable, Sendable {
    /// In capitals with underscores, such as `SLOW_READER`; constant for one cause.
    package var reason: String
    /// Whose reason it is.
    package var domain: String
    package var metadata: [String: String]

    package init(reason: String, domain: String, metadata: [String: String] = [:]) {
      self.reason = reason
      self.domain = domain
      self.metadata = metadata
    }
  }

  /// `google.rpc.BadRequest.FieldViolation`: one field of the request that is wrong.
  package struct FieldViolation: Hashable, Sendable {
    /// The path to the field, such as `selector.account_id`.
    package var field: String
    package var description: String

    package init(field: String, description: String) {
      self.field = field
      self.description = description
    }
  }

  package var code: RPCCode
  package var message: String
  package var errorInfo: ErrorInfo?
  /// How long to wait before trying again (`google.rpc.RetryInfo`).
  package var retryDelay: Duration?
  package var fieldViolations: [FieldViolation]

  package init(
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
  package var description: String {
    message.isEmpty ? code.name : "\(code.name): \(message)"
  }
}
