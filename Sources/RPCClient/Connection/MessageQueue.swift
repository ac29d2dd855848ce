import NIOCore
import Synchronization

/// The messages of one stream between the event loop and the one task that reads them, bounded in
/// bytes.
final class MessageQueue: Sendable {
  private typealias Waiter = CheckedContinuation<Result<ByteBuffer?, RPCClientError>, Never>

  private struct State {
    var messages = CircularBuffer<ByteBuffer>()
    var bytes = 0
    var waiter: Waiter?
    /// When the last message arrived; before the first one, when the call was made.
    var heard = ContinuousClock.now
    /// Set once. The reader gets it after the messages in the queue.
    var end: Result<ByteBuffer?, RPCClientError>?
  }

  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: in bytes; a single message may be longer.
  init(limit: Int) {
    self.limit = limit
  }

  /// The time since the last message arrived, whether it was read or not.
  var silence: Duration {
    state.withLock { $0.heard }.duration(to: .now)
  }

  /// Appends a message, or gives it to the waiting reader.
  ///
  /// - Returns: false when the queue is full; the caller then ends the stream.
  func deliver(_ message: ByteBuffer) -> Bool {
    let (waiter, hadRoom) = state.withLock { state -> (Waiter?, Bool) in
      if state.end != nil {
        return (nil, true)
      }
      state.heard = .now
      if let waiter = exchange(&state.waiter, with: nil) {
        return (waiter, true)
      }
      if !state.messages.isEmpty, state.bytes + message.readableBytes > limit {
        return (nil, false)
      }
      state.messages.append(message)
      state.bytes += message.readableBytes
      return (nil, true)
    }
    waiter?.resume(returning: .success(message))
    return hadRoom
  }

  /// Ends the stream. Only the first end counts.
  ///
  /// - Parameter error: nil when the server completed the stream.
  func end(_ error: RPCClientError?) {
    let end: Result<ByteBuffer?, RPCClientError> = error.map { .failure($0) } ?? .success(nil)
    let waiter = state.withLock { state -> Waiter? in
      if state.end != nil {
        return nil
      }
      state.end = end
      return exchange(&state.waiter, with: nil)
    }
    waiter?.resume(returning: end)
  }

  /// The next message, or nil after the last one. Only one task at a time may call it.
  func next() async throws(RPCClientError) -> ByteBuffer? {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result = state.withLock { state -> Result<ByteBuffer?, RPCClientError>? in
          if let message = state.messages.popFirst() {
            state.bytes -= message.readableBytes
            return .success(message)
          }
          if let end = state.end {
            return end
          }
          precondition(state.waiter == nil, "a stream has one reader")
          state.waiter = continuation
          return nil
        }
        if let result {
          continuation.resume(returning: result)
        }
      }
    } onCancel: {
      end(.cancelled)
    }
    return try result.get()
  }
}

/// Ends a stream that receives no message for a time. Without it, a reader would wait for a
/// vanished server until TCP gives up, which takes hours.
final class SilenceTimer: Sendable {
  private let task: Task<Void, Never>

  /// - Parameter limit: the longest time without a message.
  init(of queue: MessageQueue, limit: Duration) {
    task = Task {
      while true {
        let rest = limit - queue.silence
        if rest <= .zero { return queue.end(.silent(limit)) }
        do {
          try await Task.sleep(for: rest)
        } catch {
          return
        }
      }
    }
  }

  deinit {
    task.cancel()
  }
}
