public import Wire

/// Why a call did not succeed.
public struct RPCClientError: Error, Hashable, Sendable {
  public enum Code: Hashable, Sendable {
    /// No connection could be made in time.
    case unreachable
    /// The connection ended before the answer came. The server may have carried out the call.
    case connectionClosed
    /// The client was closed by its own program.
    case clientClosed
    /// The server's answer, or the client's own: `deadlineExceeded`, `cancelled`,
    /// `invalidArgument` for a request that cannot be sent, `internal` for an answer that cannot be
    /// read, `resourceExhausted` at a limit of the client.
    case status(RPCCode)
  }

  public var code: Code
  public var message: String
  /// How long the server asks to wait before trying again.
  public var retryDelay: Duration?
  public var errorInfo: RPCStatus.ErrorInfo?
  /// The fields of the request that are wrong.
  public var fieldViolations: [RPCStatus.FieldViolation]
  /// Whether a server may have seen the request. False: nothing was done, so that any call may be
  /// repeated.
  public internal(set) var wasSent: Bool

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
    self.retryDelay = nil
    self.errorInfo = nil
    self.fieldViolations = []
    self.wasSent =
      switch code {
      case .unreachable, .clientClosed: false
      case .connectionClosed, .status: true
      }
  }

  init(_ status: RPCStatus) {
    self.init(.status(status.code), status.message)
    self.retryDelay = status.retryDelay
    self.errorInfo = status.errorInfo
    self.fieldViolations = status.fieldViolations
  }

  /// The same, of a call that no server saw.
  var unsent: RPCClientError {
    var error = self
    error.wasSent = false
    return error
  }
}

extension RPCClientError: CustomStringConvertible {
  public var description: String {
    switch code {
    case .unreachable: "unreachable: \(message)"
    case .connectionClosed, .clientClosed: message
    case .status(let code): RPCStatus(code, message).description
    }
  }
}
