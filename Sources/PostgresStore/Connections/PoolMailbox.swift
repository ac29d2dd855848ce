import CPostgres
import Cryptography
import Glibc

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
