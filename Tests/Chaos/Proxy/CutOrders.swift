import Synchronization

/// The pending cuts.
final class CutOrders: Sendable {
  private struct State {
    var waiting: [CutRule] = []
    var doneCount = 0
  }

  private let state = Mutex(State())

  func order(_ rules: [CutRule]) {
    state.withLock { $0.waiting += rules }
  }

  /// Withdraws the cuts that no connection has taken.
  func withdraw() {
    state.withLock { $0.waiting = [] }
  }

  /// The next cut, for a connection that has started a long request.
  func take() -> CutRule? {
    state.withLock { $0.waiting.popLast() }
  }

  func done() {
    state.withLock { $0.doneCount += 1 }
  }

  var doneCount: Int { state.withLock { $0.doneCount } }
}
