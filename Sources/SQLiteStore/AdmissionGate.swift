import EntitlementStore
import Synchronization
import Workers

/// Limits concurrent calls, and the share of each source. Calls beyond the limit are rejected, and
/// `close` waits for the rest.
final class AdmissionGate: Sendable {
  private struct State {
    var shares: SourceShares
    var isClosed = false
    var waitingForDrain: [CheckedContinuation<Void, Never>] = []
  }

  let limit: Int
  private let name: String
  private let state: Mutex<State>

  /// - Parameter name: the kind of calls, in the plural, for error messages.
  init(limit: Int, name: String) {
    self.name = name
    self.limit = limit
    state = Mutex(State(shares: SourceShares(limit: limit)))
  }

  /// Calls in progress.
  var pending: Int { state.withLock { $0.shares.pending } }

  /// Every successful call must be followed by one ``leave(as:)``.
  func enter(as source: WorkSource = .server) throws(StoreError) {
    let refusal: StoreError? = state.withLock { state in
      if state.isClosed { return StoreError(.closed, "the store is closed") }
      if state.shares.admit(source) { return nil }
      return StoreError(.unavailable, "too many \(name) are waiting")
    }
    if let refusal { throw refusal }
  }

  func leave(as source: WorkSource = .server) {
    let drained = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.shares.ended(source)
      guard state.shares.pending == 0 else { return [] }
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
        if state.shares.pending > 0 { state.waitingForDrain.append(continuation) }
        return state.shares.pending == 0
      }
      if isDrained { continuation.resume() }
    }
  }
}
