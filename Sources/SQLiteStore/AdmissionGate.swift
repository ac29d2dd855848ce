import EntitlementStore
import Synchronization

/// Counts the calls under way: refuses those beyond a limit, and lets `close` wait for the rest.
final class AdmissionGate: Sendable {
  private struct State {
    var active = 0
    var isClosed = false
    var waitingForDrain: [CheckedContinuation<Void, Never>] = []
  }

  private let limit: Int
  private let name: String
  private let state = Mutex(State())

  /// - Parameter name: what the calls are, in the plural, for the message of a refusal.
  init(limit: Int, name: String) {
    self.limit = limit
    self.name = name
  }

  /// Every success must be followed by one ``leave()``.
  func enter() throws(StoreError) {
    let refusal: StoreError? = state.withLock { state in
      if state.isClosed { return StoreError(.closed, "the store is closed") }
      if state.active >= limit { return StoreError(.unavailable, "too many \(name) are waiting") }
      state.active += 1
      return nil
    }
    if let refusal { throw refusal }
  }

  func leave() {
    let drained = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.active -= 1
      guard state.active == 0 else { return [] }
      defer { state.waitingForDrain = [] }
      return state.waitingForDrain
    }
    for continuation in drained { continuation.resume() }
  }

  /// Refuses further calls and returns when none is under way.
  func close() async {
    await withCheckedContinuation { continuation in
      let isDrained = state.withLock { state in
        state.isClosed = true
        if state.active > 0 { state.waitingForDrain.append(continuation) }
        return state.active == 0
      }
      if isDrained { continuation.resume() }
    }
  }
}
