import EntitlementService
import Synchronization

/// A timer that the test advances.
final class MovableTimer: Sendable {
  private struct State {
    var now = Duration.zero
    var sleepers: [Int: (until: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var lastID = 0
    var awaited: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var timer: ServiceTimer {
    ServiceTimer(
      nanoseconds: {
        let (seconds, attoseconds) = self.state.withLock { $0.now.components }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
      },
      sleep: { try await self.sleep(for: $0) })
  }

  /// Wakes the sleepers whose time has passed.
  func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now += duration
      let woken = state.sleepers.filter { $0.value.until <= state.now }
      for id in woken.keys { state.sleepers[id] = nil }
      return woken.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }

  /// Returns when `count` sleeps have begun.
  func sleepersBegun(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.sleepers.count >= count { return true }
        state.awaited.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  private func sleep(for duration: Duration) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isOver, awaited) = state.withLock { state in
          if Task.isCancelled {
            return (true, [CheckedContinuation<Void, Never>]())
          }
          state.sleepers[id] = (state.now + duration, continuation)
          let count = state.sleepers.count
          let awaited = state.awaited.filter { $0.count <= count }.map(\.continuation)
          state.awaited.removeAll { $0.count <= count }
          return (false, awaited)
        }
        if isOver { continuation.resume(throwing: CancellationError()) }
        for waiter in awaited { waiter.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
