public import Wire

/// The responses of ``EntitlementClient/watchHealth(of:)``: the current status of a service, then
/// each change, for one reader. The iteration ends when the server ends the watch.
public struct HealthStatusSequence: AsyncSequence, Sendable {
  /// The status of the service and the version of the server.
  public typealias Element = HealthCheckResponse
  /// The error that ends the watch.
  public typealias Failure = RPCClientError

  let messages: RPCMessageStream

  /// Makes the iterator. All iterators read from the same stream; use one.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(messages: messages.makeAsyncIterator())
  }

  /// Reads the responses of a health watch.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var messages: RPCMessageStream.AsyncIterator

    init(messages: RPCMessageStream.AsyncIterator) {
      self.messages = messages
    }

    /// Waits for the next status.
    ///
    /// - Returns: the status; nil when the server has ended the watch.
    /// - Throws: ``RPCClientError`` when the watch fails or the task is cancelled.
    public mutating func next() async throws(RPCClientError) -> Element? {
      guard let message = try await messages.next() else { return nil }
      return try EntitlementClient.decode(HealthCheckResponse.self, from: message)
    }

    /// Waits for the next status, on the caller's actor.
    ///
    /// - Returns: the status; nil when the server has ended the watch.
    /// - Throws: ``RPCClientError`` when the watch fails or the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCClientError) -> Element? {
      try await next()
    }
  }
}
