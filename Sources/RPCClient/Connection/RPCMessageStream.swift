package import NIOCore

/// The messages of one server-streaming call, in order, for one reader. Ends when the server ends
/// the stream; throws when the stream fails.
///
/// Dropping it, or cancelling its reader, makes the client ignore what still comes. The protocol
/// cannot tell the server to stop: a client that is done with an endless stream should close the
/// connection.
package struct RPCMessageStream: AsyncSequence, Sendable {
  package typealias Element = ByteBuffer
  package typealias Failure = RPCClientError

  package struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let owner: Owner

    package mutating func next() async throws(RPCClientError) -> ByteBuffer? {
      try await owner.queue.next()
    }

    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCClientError) -> ByteBuffer? {
      try await owner.queue.next()
    }
  }

  /// Lives as long as anyone can read; then the call is given up.
  fileprivate final class Owner: Sendable {
    let queue: MessageQueue
    /// Watches for as long as anyone can read.
    private let alarm: SilenceAlarm?
    private let abandon: @Sendable () -> Void

    init(
      queue: MessageQueue, alarm: SilenceAlarm?, abandon: @escaping @Sendable () -> Void
    ) {
      self.queue = queue
      self.alarm = alarm
      self.abandon = abandon
    }

    deinit {
      abandon()
    }
  }

  private let owner: Owner

  init(
    queue: MessageQueue, alarm: SilenceAlarm? = nil, abandon: @escaping @Sendable () -> Void
  ) {
    self.owner = Owner(queue: queue, alarm: alarm, abandon: abandon)
  }

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(owner: owner)
  }
}
