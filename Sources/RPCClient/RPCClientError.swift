public import Framing

/// The error of every call: a code, a message, and the details that the server sent.
public struct RPCClientError: Error, Hashable, Sendable {
  /// What went wrong.
  public enum Code: Hashable, Sendable {
    /// No connection could be made in time.
    case unreachable
    /// The connection ended before the answer arrived. The server may have carried out the call.
    case connectionClosed
    /// The client was closed with ``EntitlementClient/close(within:)``.
    case clientClosed
    /// The server's status, or one that the client sets itself: `deadlineExceeded`, `cancelled`,
    /// `invalidArgument` for a request that cannot be sent, `internal` for an answer that cannot be
    /// decoded, `resourceExhausted` at a limit of the client.
    case status(RPCCode)
  }

  /// What went wrong.
  public var code: Code
  /// The reason in English, for logs. Programs decide by ``code`` and ``errorInfo``.
  public var message: String
  /// How long the server asks the caller to wait before the next attempt; nil when it does not say.
  public var retryDelay: Duration?
  /// The server's reason in a form that programs can compare, such as `OVERLOADED`.
  public var errorInfo: RPCStatus.ErrorInfo?
  /// The fields of the request that are not valid.
  public var fieldViolations: [RPCStatus.FieldViolation]
  /// Whether a server may have received the request. When false, nothing was done and every call
  /// can be repeated.
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

  /// The same error for a request that no server received.
  var unsent: RPCClientError {
    var error = self
    error.wasSent = false
    return error
  }
}

extension RPCClientError: CustomStringConvertible {
  /// The code and the message, such as `NOT_FOUND: no such chain`.
  public var description: String {
    switch code {
    case .unreachable: "unreachable: \(message)"
    case .connectionClosed, .clientClosed: message
    case .status(let code): RPCStatus(code, message).description
    }
  }
}

// Errors that the client detects itself.
extension RPCClientError {
  static let noAddress = RPCClientError(.unreachable, "the client has no server address")
  static let closed = RPCClientError(.connectionClosed, "the connection is closed")
  static let serverSpeaksTLS = RPCClientError(
    .unreachable, "the server speaks TLS: the address needs tls: before the host")
  static let clientClosed = RPCClientError(.clientClosed, "the client is closed")
  static let deadlineExceeded = RPCClientError(
    .status(.deadlineExceeded), "the deadline passed before the answer arrived")
  static let cancelled = RPCClientError(.status(.cancelled), "the call was cancelled")
  static let tooLarge = RPCClientError(
    .status(.resourceExhausted),
    "the request is larger than a frame of \(RPCLimits.maximumFrameData) bytes")
  static let slowReader = RPCClientError(
    .status(.resourceExhausted), "the stream was not read fast enough")

  /// The server refused the connection after the client's side of the handshake. It has not read a
  /// call.
  static func refused(_ fault: TLSFault) -> RPCClientError {
    RPCClientError(.unreachable, fault.text)
  }

  static func silent(_ limit: Duration) -> RPCClientError {
    RPCClientError(.connectionClosed, "the server sent nothing for \(limit)")
  }

  static func tooManyWaiting(_ limit: Int) -> RPCClientError {
    RPCClientError(
      .status(.resourceExhausted), "\(limit) calls of this client already wait for a connection"
    ).unsent
  }

  static func connectionsFull(after time: Duration) -> RPCClientError {
    RPCClientError(
      .status(.resourceExhausted), "every connection of this client was full for \(time)"
    ).unsent
  }
}
