package import Wire

/// Why a call did not succeed.
package struct RPCClientError: Error, Hashable, Sendable {
  package enum Code: Hashable, Sendable {
    /// No connection could be made.
    case unreachable
    /// The connection ended before the answer came. The server may have carried out the call.
    case connectionClosed
    /// The server's answer, or, for `deadlineExceeded` and `cancelled`, the client's own.
    case status(RPCCode)
  }

  package var code: Code
  package var message: String
  /// How long the server asks to wait before trying again.
  package var retryDelay: Duration?
  package var errorInfo: RPCStatus.ErrorInfo?
  /// The fields of the request that are wrong.
  package var fieldViolations: [RPCStatus.FieldViolation]

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
    self.retryDelay = nil
    self.errorInfo = nil
    self.fieldViolations = []
  }

  init(_ status: RPCStatus) {
    self.code = .status(status.code)
    self.message = status.message
    self.retryDelay = status.retryDelay
    self.errorInfo = status.errorInfo
    self.fieldViolations = status.fieldViolations
  }

  static let closed = RPCClientError(.connectionClosed, "the connection is closed")
  static let deadlineExceeded = RPCClientError(
    .status(.deadlineExceeded), "the deadline passed before the answer came")
  static let cancelled = RPCClientError(.status(.cancelled), "the call was cancelled")
  static let tooLarge = RPCClientError(
    .status(.resourceExhausted),
    "the request is larger than a frame of \(RPCLimits.maximumFrameData) bytes")
  static func silent(_ limit: Duration) -> RPCClientError {
    RPCClientError(.connectionClosed, "the server said nothing for \(limit)")
  }

  static let slowReader = RPCClientError(
    .status(.resourceExhausted), "the stream was not read fast enough")
}

extension RPCClientError: CustomStringConvertible {
  package var description: String {
    switch code {
    case .unreachable: "unreachable: \(message)"
    case .connectionClosed: message
    case .status(let code): RPCStatus(code, message).description
    }
  }
}
