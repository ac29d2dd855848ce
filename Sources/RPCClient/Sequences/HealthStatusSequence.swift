public import Wire

/// How a service is doing: now, and again with each change. Ends when the server ends the watch.
public struct HealthStatusSequence: AsyncSequence, Sendable {
  public typealias Element = HealthCheckResponse
  public typealias Failure = RPCClientError

  let messages: RPCMessageStream

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(messages: messages.makeAsyncIterator())
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private var messages: RPCMessageStream.AsyncIterator

    init(messages: RPCMessageStream.AsyncIterator) {
      self.messages = messages
    }

    public mutating func next() async throws(RPCClientError) -> Element? {
      guard let message = try await messages.next() else { return nil }
      return try EntitlementClient.decode(HealthCheckResponse.self, from: message)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCClientError) -> Element? {
      try await next()
    }
  }
}
