import CPostgres
import Glibc
import Locks
import Synchronization

/// Messages to the pool's thread. Any thread may post.
final class PoolMailbox: Sendable {
  private struct State {
    var messages: [PoolMessage] = []
    /// Whether the reader is in `poll` or about to enter it.
    var isReaderWaiting = false
    var isClosed = false
  }

  /// Readable after a message was posted while the reader slept.
  let descriptor: CInt
  private let state = LockedValue(State())

  /// - Throws: ``PostgresFailure/Kind/cannotConnect`` when the process is out of file descriptors.
  init() throws(PostgresFailure) {
    descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else {
      throw PostgresFailure(.cannotConnect, "the process is out of file descriptors")
    }
  }

  deinit { _ = Glibc.close(descriptor) }

  /// Posts a message. After ``finish()`` the message is refused.
  func post(_ message: PoolMessage) {
    let (isTaken, wake) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      state.messages.append(message)
      defer { state.isReaderWaiting = false }
      return (true, state.isReaderWaiting)
    }
    guard isTaken else { return message.refuse() }
    if wake { signal() }
  }

  /// Takes all messages. If there are none, the next post signals ``descriptor``.
  func take() -> [PoolMessage] {
    state.withLock { state in
      guard !state.messages.isEmpty else {
        state.isReaderWaiting = true
        return []
      }
      defer { state.messages = [] }
      return state.messages
    }
  }

  /// Clears the signal.
  func acknowledge() {
    var count: UInt64 = 0
    // Fails only when there is no signal.
    _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
  }

  /// Refuses all pending and later messages.
  func finish() {
    let left = state.withLock { state in
      state.isClosed = true
      defer { state.messages = [] }
      return state.messages
    }
    for message in left { message.refuse() }
  }

  private func signal() {
    var one: UInt64 = 1
    // Fails only at 2^64 − 1 signals that were not cleared.
    _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
  }
}

typealias ExchangeResult = Result<[PostgresRows], PostgresFailure>
typealias ExchangeContinuation = UnsafeContinuation<ExchangeResult, Never>
typealias SessionContinuation = UnsafeContinuation<Result<Int, PostgresFailure>, Never>

/// Messages to the pool's thread. The receiver of a message resumes its continuation exactly once.
enum PoolMessage: Sendable {
  case read(PostgresExchange, ExchangeContinuation)
  /// The flag of a read, or of a wait for a session, was set.
  case somethingCancelled
  case sessionWanted(SessionRequest, SessionContinuation)
  case sessionReleased(Int)
  case sessionExchange(Int, PostgresExchange, ExchangeContinuation)
  case connected(ConnectAttempt, Result<OwnedConnection, PostgresFailure>)
  case listenerAdded(ListenerHandle)
  case listenerRemoved(ListenerHandle)
  case announcementWanted(ListenerHandle)
  case closeWanted(UnsafeContinuation<Void, Never>?)

  /// Fails the caller of a message that will not be handled.
  func refuse() {
    let failure = PostgresFailure(.closed, "the pool is closed")
    switch self {
    case .read(_, let continuation), .sessionExchange(_, _, let continuation):
      continuation.resume(returning: .failure(failure))
    case .sessionWanted(_, let continuation):
      continuation.resume(returning: .failure(failure))
    case .closeWanted(let continuation):
      continuation?.resume()
    case .listenerAdded(let handle):
      handle.finish()
    case .somethingCancelled, .sessionReleased, .connected, .listenerRemoved,
      .announcementWanted:
      break
    }
  }
}

/// A request for a session.
final class SessionRequest: Sendable {
  let deadline: ContinuousClock.Instant
  private let cancellation = Atomic<Bool>(false)

  init(within limit: Duration) { deadline = .now + limit }

  var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

  func cancel() { cancellation.store(true, ordering: .relaxed) }
}
