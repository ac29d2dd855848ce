import Synchronization

/// The cuts that are yet to be made.
final class CutOrders: Sendable {
  private struct State {
    var waiting: [CutRule] = []
    var doneCount = 0
  }

  private let state = Mutex(State())

  func order(_ rules: [CutRule]) {
    state.withLock { $0.waiting += rules }
  }

  /// Calls back what nobody has taken.
  func withdraw() {
    state.withLock { $0.waiting = [] }
  }

  /// For a connection that has begun a long request.
  func take() -> CutRule? {
    state.withLock { $0.waiting.popLast() }
  }

  func done() {
    state.withLock { $0.doneCount += 1 }
  }

  var doneCount: Int { state.withLock { $0.doneCount } }
}
