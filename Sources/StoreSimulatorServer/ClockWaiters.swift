import Locks

/// Clients waiting for a revision of the clock, and callers waiting until these clients know it.
final class ClockWaiters: Sendable {
  private struct State {
    var lastID = 0
    var revision = 0
    /// Clients waiting for a revision above the one that they know.
    var polls: [Int: (known: Int, resume: @Sendable () -> Void)] = [:]
    /// Callers waiting until so many polls know a revision.
    var audiences: [Int: (revision: Int, count: Int, resume: @Sendable () -> Void)] = [:]
  }

  private let state = LockedValue(State())

  /// How many clients wait for a change.
  var count: Int { state.withLock { $0.polls.count } }

  /// Notifies waiting clients.
  func changed(_ revision: Int) {
    let due = state.withLock { state in
      state.revision = revision
      let due = state.polls.filter { $0.value.known < revision }
      for id in due.keys { state.polls[id] = nil }
      return due.values.map(\.resume)
    }
    for resume in due { resume() }
  }

  /// Waits until the revision is above `known`, the time is over, or the task is cancelled.
  func wait(after known: Int, for time: Duration) async {
    await suspend(for: time) { state, id, resume in
      guard state.revision <= known else { return false }
      state.polls[id] = (known, resume)
      return true
    }
  }

  /// Waits until so many poll with a revision, or the time is over.
  func awaitPolls(_ count: Int, of revision: Int, for time: Duration) async {
    await suspend(for: time) { state, id, resume in
      guard state.polls.values.count(where: { $0.known >= revision }) < count else { return false }
      state.audiences[id] = (revision, count, resume)
      return true
    }
  }

  /// - Parameter begin: enters the waiter, or returns false when there is nothing to wait for.
  private func suspend(
    for time: Duration,
    _ begin: @Sendable (inout State, Int, @escaping @Sendable () -> Void) -> Bool
  ) async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let (id, isWaiting, complete) = state.withLock { state in
      state.lastID += 1
      let id = state.lastID
      let isWaiting = begin(&state, id) { continuation.finish() }
      let complete = state.audiences.filter { audience in
        let count = state.polls.values.count { $0.known >= audience.value.revision }
        return count >= audience.value.count
      }
      for id in complete.keys { state.audiences[id] = nil }
      return (id, isWaiting, complete.values.map(\.resume))
    }
    for resume in complete { resume() }
    guard isWaiting else { return }
    let timer = Task {
      try? await Task.sleep(for: time)
      continuation.finish()
    }
    // Ends when it is finished, or the task is cancelled.
    for await _ in stream {}
    timer.cancel()
    state.withLock { state in
      state.polls[id] = nil
      state.audiences[id] = nil
    }
  }
}
