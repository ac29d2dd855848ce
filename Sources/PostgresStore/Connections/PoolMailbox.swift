import CPostgres
import Cryptography
import Glibc
import Synchronization

/// Messages to the thread that owns the connections. Any thread may post.
final class PoolMailbox: Sendable {
  private struct State {
    var messages: [PoolMessage] = []
    /// Whether the reader waits in `poll`, or is about to.
    var isReaderAsleep = false
    var isClosed = false
  }

  /// Readable when a message came while the reader slept.
  let descriptor: CInt
  private let state = Guarded(State())

  /// - Throws: ``PostgresFailure/Kind/cannotConnect`` when the process has no descriptors left.
  init() throws(PostgresFailure) {
    descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else {
      throw PostgresFailure(.cannotConnect, "no descriptor is left for the pool's events")
    }
  }

  deinit { _ = Glibc.close(descriptor) }

  /// What comes when the reader has gone is refused here.
  func post(_ message: PoolMessage) {
    let (isTaken, wake) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      state.messages.append(message)
      defer { state.isReaderAsleep = false }
      return (true, state.isReaderAsleep)
    }
    guard isTaken else { return message.refuse() }
    if wake { signal() }
  }

  /// All messages so far. When there are none, the next one signals ``descriptor``.
  func take() -> [PoolMessage] {
    state.withLock { state in
      guard !state.messages.isEmpty else {
        state.isReaderAsleep = true
        return []
      }
      defer { state.messages = [] }
      return state.messages
    }
  }

  /// Takes the signal back.
  func acknowledge() {
    var count: UInt64 = 0
    // It fails only when there was none.
    _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
  }

  /// Refuses what is there and what will come.
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
    // It fails only when 2^64 − 1 signals were not taken back.
    _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
  }
}

typealias ExchangeResult = Result<[PostgresRows], PostgresFailure>
typealias ExchangeContinuation = UnsafeContinuation<ExchangeResult, Never>
typealias SessionContinuation = UnsafeContinuation<Result<Int, PostgresFailure>, Never>

/// What other threads tell the thread that owns the connections. Each continuation in it is resumed
/// exactly once by whoever takes the message out.
enum PoolMessage: Sendable {
  case read(PostgresExchange, ExchangeContinuation)
  /// A read, or a wait for a session, has been marked as cancelled.
  case somethingCancelled
  case sessionWanted(SessionRequest, SessionContinuation)
  case sessionReleased(Int)
  case sessionExchange(Int, PostgresExchange, ExchangeContinuation)
  case connected(ConnectTicket, Result<OwnedConnection, PostgresFailure>)
  case listenerAdded(ListenerHandle)
  case listenerRemoved(ListenerHandle)
  case announcementWanted(ListenerHandle)
  case closeWanted(UnsafeContinuation<Void, Never>?)

  /// Answers whoever waits for this message's outcome, when nobody will act on it.
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

/// Somebody who wants a session.
final class SessionRequest: Sendable {
  let deadline: ContinuousClock.Instant
  private let cancellation = Atomic<Bool>(false)

  init(within limit: Duration) { deadline = .now + limit }

  var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

  func cancel() { cancellation.store(true, ordering: .relaxed) }
}
