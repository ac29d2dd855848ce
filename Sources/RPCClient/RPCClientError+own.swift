import Wire

// The errors that the client finds itself.
extension RPCClientError {
  static let noAddress = RPCClientError(.unreachable, "the client was given no server address")
  static let closed = RPCClientError(.connectionClosed, "the connection is closed")
  static let clientClosed = RPCClientError(.clientClosed, "the client is closed")
  static let deadlineExceeded = RPCClientError(
    .status(.deadlineExceeded), "the deadline passed before the answer came")
  static let cancelled = RPCClientError(.status(.cancelled), "the call was cancelled")
  static let tooLarge = RPCClientError(
    .status(.resourceExhausted),
    "the request is larger than a frame of \(RPCLimits.maximumFrameData) bytes")
  static let slowReader = RPCClientError(
    .status(.resourceExhausted), "the stream was not read fast enough")

  static func silent(_ limit: Duration) -> RPCClientError {
    RPCClientError(.connectionClosed, "the server said nothing for \(limit)")
  }

  static func tooManyWaiting(_ limit: Int) -> RPCClientError {
    RPCClientError(
      .status(.resourceExhausted), "\(limit) calls of this client wait for a connection already"
    ).unsent
  }

  static func connectionsFull(after time: Duration) -> RPCClientError {
    RPCClientError(
      .status(.resourceExhausted), "every connection of this client had its calls for \(time)"
    ).unsent
  }
}
