import Framing

/// Why a watch ended, and the cursor from which to watch again.
public struct CustomerWatchError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error of the call.
  public let cause: RPCClientError
  /// The cursor of the last response that was read, else that of the request. A watch from this
  /// cursor continues without a gap. Nil when there is neither.
  public let cursor: String?

  /// Makes an error, for tests of callers.
  public init(cause: RPCClientError, cursor: String?) {
    self.cause = cause
    self.cursor = cursor
  }

  /// Whether the same watch may succeed later, from ``cursor``. True when the connection was lost,
  /// the server was not available, or the reader was too slow.
  public var isTransient: Bool {
    switch cause.code {
    case .unreachable, .connectionClosed, .status(.unavailable), .status(.resourceExhausted),
      .status(.deadlineExceeded), .status(.aborted):
      true
    case .clientClosed, .status:
      false
    }
  }

  /// The description of ``cause``.
  public var description: String { cause.description }
}
