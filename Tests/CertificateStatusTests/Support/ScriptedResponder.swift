import Synchronization
import Verification

/// Answers by a function, and counts the questions for one address.
final class ScriptedResponder: StatusResponder {
  private let script: @Sendable (_ request: [UInt8], _ url: String) async throws -> [UInt8]
  private let counted: String
  private let questions = Mutex(0)

  init(
    counting address: String,
    _ script: @escaping @Sendable (_ request: [UInt8], _ url: String) async throws -> [UInt8]
  ) {
    counted = address
    self.script = script
  }

  /// How often it was asked.
  var count: Int { questions.withLock { $0 } }

  func answer(to request: [UInt8], at url: String) async throws -> [UInt8] {
    if url == counted { questions.withLock { $0 += 1 } }
    return try await script(request, url)
  }
}

/// Holds those who wait at it until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  var waitingCount: Int { state.withLock { $0.waiting.count } }
}
