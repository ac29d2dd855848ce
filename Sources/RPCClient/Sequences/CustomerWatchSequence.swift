public import Wire

/// What changes, as it is committed. It has no end of its own: reading ends with a
/// ``CustomerWatchError``, which says from where to go on.
public struct CustomerWatchSequence: AsyncSequence, Sendable {
  public typealias Element = WatchCustomerStatesResponse
  public typealias Failure = CustomerWatchError

  let messages: RPCMessageStream
  /// Where it started; nil: from the moment of the call on.
  let cursor: String?

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(messages: messages.makeAsyncIterator(), cursor: cursor)
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private var messages: RPCMessageStream.AsyncIterator
    /// Of the last response that was given out.
    private var cursor: String?

    init(messages: RPCMessageStream.AsyncIterator, cursor: String?) {
      self.messages = messages
      self.cursor = cursor
    }

    /// - Returns: never nil.
    public mutating func next() async throws(CustomerWatchError) -> Element? {
      do throws(RPCClientError) {
        guard let message = try await messages.next() else {
          throw RPCClientError(.connectionClosed, "the server ended the watch")
        }
        let response = try EntitlementClient.decode(
          WatchCustomerStatesResponse.self, from: message)
        cursor = response.cursor
        return response
      } catch {
        throw CustomerWatchError(cause: error, cursor: cursor)
      }
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(CustomerWatchError) -> Element? {
      try await next()
    }
  }
}
