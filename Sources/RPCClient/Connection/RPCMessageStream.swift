package import NIOCore

/// The messages of one server-streaming call, in order, for one reader. It ends when the server
/// ends the stream, and throws when the stream fails.
///
/// When the stream is released or its reader is cancelled, the client ignores all further messages.
/// The protocol has no message that stops the server: only closing the connection ends an endless
/// stream.
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

  /// Shared by the stream and its iterators. Releasing the last one abandons the call.
  fileprivate final class Owner: Sendable {
    let queue: MessageQueue
    /// Runs for as long as the stream can be read.
    private let timer: SilenceTimer?
    private let abandon: @Sendable () -> Void

    init(
      queue: MessageQueue, timer: SilenceTimer?, abandon: @escaping @Sendable () -> Void
    ) {
      self.queue = queue
      self.timer = timer
      self.abandon = abandon
    }

    deinit {
      abandon()
    }
  }

  private let owner: Owner

  init(
    queue: MessageQueue, timer: SilenceTimer? = nil, abandon: @escaping @Sendable () -> Void
  ) {
    self.owner = Owner(queue: queue, timer: timer, abandon: abandon)
  }

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(owner: owner)
  }
}
