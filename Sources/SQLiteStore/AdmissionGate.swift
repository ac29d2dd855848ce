import EntitlementStore
import Synchronization

/// Limits concurrent calls. Calls beyond the limit are rejected, and `close` waits for the rest.
final class AdmissionGate: Sendable {
  private struct State {
    var active = 0
    var isClosed = false
    var waitingForDrain: [CheckedContinuation<Void, Never>] = []
  }

  private let limit: Int
  private let name: String
  private let state = Mutex(State())

  /// - Parameter name: the kind of calls, in the plural, for error messages.
  init(limit: Int, name: String) {
    self.limit = limit
    self.name = name
  }

  /// Every successful call must be followed by one ``leave()``.
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

  /// Rejects further calls and returns when no call is in progress.
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
