import NIOCore
import RPCServer
import Synchronization
import Wire

extension RPCServerStream {
  /// Bytes after which a producer waits for its reader: a few messages in one write, and not much
  /// more than a connection holds for a client that reads.
  private static let unreadBytes = 65_536

  /// Sends what `body` makes, in a task of its own, no faster than it is read, and ends the stream
  /// when `body` returns, with its error when it throws. Nothing is made any more once the client is
  /// gone.
  func produce(_ body: @escaping @Sendable (StreamProducer) async throws -> Void) {
    let task = Task {
      do {
        try await body(StreamProducer(stream: self, unreadBytes: Self.unreadBytes))
        finish()
      } catch {
        fail(RPCStatus(mapping: error))
      }
    }
    onCancel { task.cancel() }
  }
}

/// Sends the messages of one stream, and waits for the reader between them.
final class StreamProducer: Sendable {
  private let stream: RPCServerStream
  private let unreadBytes: Int
  private let sentBytes = Atomic(0)

  fileprivate init(stream: RPCServerStream, unreadBytes: Int) {
    self.stream = stream
    self.unreadBytes = unreadBytes
  }

  /// - Parameter cursor: told to a client whose stream is ended since it reads too slowly.
  /// - Throws: `CancellationError` when the stream has ended.
  func send(_ message: ByteBuffer, cursor: String? = nil) async throws {
    guard stream.send(message, cursor: cursor) else { throw CancellationError() }
    let sent = sentBytes.add(message.readableBytes, ordering: .relaxed).newValue
    if sent >= unreadBytes { try await drain() }
  }

  /// Waits until what was sent is read for the most part.
  func drain() async throws {
    sentBytes.store(0, ordering: .relaxed)
    guard await stream.drained() else { throw CancellationError() }
  }
}
