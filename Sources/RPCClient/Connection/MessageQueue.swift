import NIOCore
import Synchronization

/// Messages of one stream between the event loop and the one task that reads them, bounded in
/// bytes.
final class MessageQueue: Sendable {
  private typealias Waiter = CheckedContinuation<Result<ByteBuffer?, RPCClientError>, Never>

  private struct State {
    var messages = CircularBuffer<ByteBuffer>()
    var bytes = 0
    var waiter: Waiter?
    /// When the last message came; before the first, when the call was made.
    var heard = ContinuousClock.now
    /// Set once; what is queued is still read before it.
    var end: Result<ByteBuffer?, RPCClientError>?
  }

  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: In bytes; a single message may be longer.
  init(limit: Int) {
    self.limit = limit
  }

  /// How long ago the last message came, read or not.
  var silence: Duration {
    state.withLock { $0.heard }.duration(to: .now)
  }

  /// - Returns: Whether there was room; otherwise the stream is to be given up.
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

  /// - Parameter error: Nil when the stream has ended well.
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

  /// The next message, or nil after the last one. For one task at a time.
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
