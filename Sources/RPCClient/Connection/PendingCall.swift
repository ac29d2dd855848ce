import NIOCore
import Synchronization
import Wire

/// One call between its start and its end, known to the caller's task and to the event loop.
final class PendingCall: Sendable {
  /// Who waits for it.
  enum Receiver {
    case unary(CheckedContinuation<Result<ByteBuffer, RPCClientError>, Never>)
    /// Called on the event loop.
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

  /// - Returns: Whether the caller still waits.
  func started(as streamID: StreamID) -> Bool {
    state.withLock { state in
      state.streamID = streamID
      return !state.isAbandoned
    }
  }

  /// The caller no longer waits, which may be known before the call has started.
  ///
  /// - Returns: The stream to give up, if there is one.
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
