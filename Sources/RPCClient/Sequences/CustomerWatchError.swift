import Wire

/// Why a watch ended, and where to go on.
public struct CustomerWatchError: Error, Hashable, Sendable, CustomStringConvertible {
  public let cause: RPCClientError
  /// Of the last response that was given out, else that of the request: whoever watches from here
  /// misses nothing. Nil when neither had one.
  public let cursor: String?

  public init(cause: RPCClientError, cursor: String?) {
    self.cause = cause
    self.cursor = cursor
  }

  /// Whether the same watch may succeed later, from ``cursor``: the connection or the server is
  /// gone, or the reader was too slow.
  public var isPassing: Bool {
    switch cause.code {
    case .unreachable, .connectionClosed, .status(.unavailable), .status(.resourceExhausted),
      .status(.deadlineExceeded), .status(.aborted):
      true
    case .clientClosed, .status:
      false
    }
  }

  public var description: String { cause.description }
}
