import Wire

/// The bytes of an exported document, in order. The iteration ends when the document is complete,
/// and throws when it is not.
package struct ExportSequence: AsyncSequence, Sendable {
  package typealias Element = [UInt8]
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

    package mutating func next() async throws(RPCClientError) -> [UInt8]? {
      guard let message = try await messages.next() else { return nil }
      return try EntitlementClient.decode(ExportedPiece.self, from: message).json
    }

    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCClientError) -> [UInt8]? {
      try await next()
    }
  }
}
