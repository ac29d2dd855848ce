import NIOCore
import RPCServer
import Synchronization
import Wire

extension RPCServerStream {
  /// Sends what `body` makes, in a task of its own, no faster than it is read, and ends the stream
  /// when `body` returns, with its error when it throws. Nothing is made any more once the client is
  /// gone.
  ///
  /// - Parameter limit: when the stream ends with RESOURCE_EXHAUSTED, though it may be read; nil:
  ///   it takes as long as it takes.
  func produce(
    within limit: Duration? = nil,
    _ body: @escaping @Sendable (StreamProducer) async throws -> Void
  ) {
    let alarm = limit.map { limit in
      peer.eventLoop.scheduleTask(in: TimeAmount(limit)) { self.giveUp(.notRead(within: limit)) }
    }
    let task = Task {
      defer { alarm?.cancel() }
      do {
        let producer = StreamProducer(self)
        try await body(producer)
        try await producer.flush()
        finish()
      } catch {
        fail(RPCStatus(mapping: error))
      }
    }
    onCancel { task.cancel() }
  }
}

/// Sends the messages of one stream, several at once, and waits for the reader between them.
final class StreamProducer: Sendable {
  private struct Batch {
    var messages: [StreamMessage] = []
    var bytes = 0
  }

  /// Bytes that are sent at once: a few messages in one write, and less than a connection holds for a
  /// client that reads.
  private static let batchBytes = 65_536

  private let stream: RPCServerStream
  private let batch = Mutex(Batch())

  fileprivate init(_ stream: RPCServerStream) {
    self.stream = stream
  }

  /// Sends a message, or keeps it for the next ones until ``flush()``.
  ///
  /// - Parameter cursor: told to a client whose stream is ended since it reads too slowly.
  /// - Throws: `CancellationError` when the stream has ended.
  func send(_ message: ByteBuffer, cursor: String? = nil) async throws {
    let isFull = batch.withLock { batch in
      batch.messages.append(StreamMessage(message, cursor: cursor))
      batch.bytes += message.readableBytes
      return batch.bytes >= Self.batchBytes
    }
    if isFull { try await flush() }
  }

  /// Sends what was kept.
  ///
  /// - Throws: `CancellationError` when the stream has ended.
  func flush() async throws {
    let messages = batch.withLock { exchange(&$0, with: Batch()).messages }
    if messages.isEmpty { return }
    guard await stream.sendWhenRead(messages) else { throw CancellationError() }
  }
}
