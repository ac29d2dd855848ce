import Framing
import NIOCore
import Synchronization

/// One call in flight, shared by the caller's task and the event loop.
final class PendingCall: Sendable {
  /// The recipient of the answer.
  enum Receiver {
    case unary(CheckedContinuation<Result<ByteBuffer, RPCClientError>, Never>)
    /// A closure, called on the event loop.
    case completion((Result<ByteBuffer, RPCClientError>) -> Void)
    case stream(MessageQueue)

    var kind: MethodKind {
      switch self {
      case .unary, .completion: .unary
      case .stream: .serverStreaming
      }
    }

    func succeed(_ payload: ByteBuffer) {
      switch self {
      case .unary(let continuation): continuation.resume(returning: .success(payload))
      case .completion(let completion): completion(.success(payload))
      case .stream: break
      }
    }

    func fail(_ error: RPCClientError) {
      switch self {
      case .unary(let continuation): continuation.resume(returning: .failure(error))
      case .completion(let completion): completion(.failure(error))
      case .stream(let queue): queue.end(error)
      }
    }
  }

  private struct State {
    var streamID: StreamID?
    var isAbandoned = false
  }

  private let state = Mutex(State())

  /// The request is being sent.
  ///
  /// - Returns: whether the caller still waits.
  func started(as streamID: StreamID) -> Bool {
    state.withLock { state in
      state.streamID = streamID
      return !state.isAbandoned
    }
  }

  /// The caller no longer waits. This may happen before the call starts.
  ///
  /// - Returns: the stream to abandon; nil when the call has not started.
  func abandoned() -> StreamID? {
    state.withLock { state in
      state.isAbandoned = true
      return state.streamID
    }
  }

  var isAbandoned: Bool {
    state.withLock { $0.isAbandoned }
  }
}
