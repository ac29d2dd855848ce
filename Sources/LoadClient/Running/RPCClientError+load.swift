import RPCClient

extension RPCClientError {
  /// In a report.
  var loadCode: String {
    switch code {
    case .unreachable: "UNREACHABLE"
    case .connectionClosed: "CONNECTION_CLOSED"
    case .clientClosed: "CLIENT_CLOSED"
    case .status(let code): code.name
    }
  }

  /// Whether the server answered: then it took no longer than an error takes.
  var isRefusal: Bool {
    switch code {
    case .unreachable, .connectionClosed, .clientClosed, .status(.deadlineExceeded): false
    case .status: true
    }
  }

  /// Whether a right server never gives this answer to calls such as ours, whatever its load.
  var isFault: Bool {
    guard case .status(let code) = code else { return false }
    return switch code {
    case .ok, .cancelled, .deadlineExceeded, .resourceExhausted, .aborted, .unavailable: false
    case .unknown, .invalidArgument, .notFound, .alreadyExists, .permissionDenied,
      .failedPrecondition, .outOfRange, .unimplemented, .internal, .dataLoss, .unauthenticated:
      true
    }
  }
}
