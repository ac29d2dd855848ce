package import Wire

/// How a service is doing: now, and again with each change. Ends when the server ends the watch.
package struct HealthStatusSequence: AsyncSequence, Sendable {
  package typealias Element = HealthCheckResponse.ServingStatus
  package typealias Failure = RPCClientError

  let messages: RPCMessageStream

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(messages: messages.makeAsyncIterator())
  }

  package struct AsyncIterator: AsyncIteratorProtocol {
    private var messages: RPCMessageStream.AsyncIterator

    init(messages: RPCMessageStream.AsyncIterator) {
      self.messages = messages
    }

    package mutating func next() async throws(RPCClientError) -> Element? {
      guard let message = try await messages.next() else { return nil }
      return try EntitlementClient.decode(HealthCheckResponse.self, from: message).status
    }

    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCClientError) -> Element? {
      try await next()
    }
  }
}
