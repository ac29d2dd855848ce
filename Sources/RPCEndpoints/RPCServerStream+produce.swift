import EntitlementStore
import Framing
import NIOCore
import RPCServer
import Synchronization
import Wire
import Workers

extension RPCServerStream {
  /// Runs `body` in a task and sends its messages with backpressure. The stream ends when `body`
  /// returns, or fails with the error that it throws. The task is cancelled if the client
  /// disconnects.
  ///
  /// - Parameters:
  ///   - source: The source of the call, by which its writes take turns.
  ///   - limit: The longest duration of the stream, after which it ends with
  ///     RESOURCE_EXHAUSTED; nil for no limit.
  func produce(
    for source: WorkSource, within limit: Duration? = nil,
    _ body: @escaping @Sendable (StreamProducer) async throws -> Void
  ) {
    let timeout = limit.map { limit in
      peer.eventLoop.scheduleTask(in: TimeAmount(limit)) { self.abort(.notRead(within: limit)) }
    }
    let task = Task {
      defer { timeout?.cancel() }
      do {
        let producer = StreamProducer(self)
        let context = CallContext(deadline: nil, source: source)
        try await CallContext.$current.withValue(context) { try await body(producer) }
        try await producer.flush()
        finish()
      } catch {
        fail(RPCStatus(mapping: error))
      }
    }
    onCancel { task.cancel() }
  }
}

/// Sends the messages of one stream in batches, and waits for the reader between batches.
final class StreamProducer: Sendable {
  private struct Batch {
    var messages: [StreamMessage] = []
    var bytes = 0
  }

  /// The size of a batch, in bytes: enough for several messages in one write, and less than
  /// `RPCLimits.writeBufferPause`.
  private static let batchBytes = 65_536

  private let stream: RPCServerStream
  private let batch = Mutex(Batch())

  fileprivate init(_ stream: RPCServerStream) {
    self.stream = stream
  }

  /// Adds a message to the batch, and sends the batch if it is full.
  ///
  /// - Parameter cursor: Sent to the client if the stream ends because it is read too slowly.
  /// - Throws: `CancellationError` if the stream has ended.
  func send(_ message: ByteBuffer, cursor: String? = nil) async throws {
    let isFull = batch.withLock { batch in
      batch.messages.append(StreamMessage(message, cursor: cursor))
      batch.bytes += message.readableBytes
      return batch.bytes >= Self.batchBytes
    }
    if isFull { try await flush() }
  }

  /// Sends the batch.
  ///
  /// - Throws: `CancellationError` if the stream has ended.
  func flush() async throws {
    let messages = batch.withLock { exchange(&$0, with: Batch()).messages }
    if messages.isEmpty { return }
    guard await stream.sendWhenRead(messages) else { throw CancellationError() }
  }
}
