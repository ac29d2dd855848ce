public import Wire

/// The responses of ``EntitlementClient/watchCustomerStates(_:silence:)``: changes as they are
/// committed, for one reader.
///
/// The sequence has no end. The iteration continues until it throws a ``CustomerWatchError``, which
/// has the cursor from which to watch again. Releasing the sequence and its iterator closes the
/// connection of the watch.
public struct CustomerWatchSequence: AsyncSequence, Sendable {
  /// A change, or a response that only moves the cursor.
  public typealias Element = WatchCustomerStatesResponse
  /// The error that ends the watch.
  public typealias Failure = CustomerWatchError

  let messages: RPCMessageStream
  /// The cursor of the request; nil when the watch starts at the time of the call.
  let cursor: String?

  /// Makes the iterator. All iterators read from the same stream; use one.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(messages: messages.makeAsyncIterator(), cursor: cursor)
  }

  /// Reads the responses of a watch.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var messages: RPCMessageStream.AsyncIterator
    /// The cursor of the last response that was read.
    private var cursor: String?

    init(messages: RPCMessageStream.AsyncIterator, cursor: String?) {
      self.messages = messages
      self.cursor = cursor
    }

    /// Waits for the next response.
    ///
    /// - Returns: the response; never nil.
    /// - Throws: ``CustomerWatchError`` when the watch ends or the task is cancelled.
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

    /// Waits for the next response, on the caller's actor.
    ///
    /// - Returns: the response; never nil.
    /// - Throws: ``CustomerWatchError`` when the watch ends or the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(CustomerWatchError) -> Element? {
      try await next()
    }
  }
}
