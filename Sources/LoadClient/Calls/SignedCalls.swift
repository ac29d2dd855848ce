import Dispatch
import Synchronization

/// Calls that were signed beforehand, on a thread apart: signing on the event loop would count as
/// latency of other calls.
final class SignedCalls: Sendable {
  private struct Ready {
    var calls: [Result<LoadCall, any Error>] = []
    var isFilling = false
    var isStopped = false
  }

  /// Calls that are kept ready: a few kilobytes each, and what is sent in a burst.
  private static let capacity = 256

  private let queue = DispatchQueue(label: "entitle-load.signing")
  private let maker: Mutex<SignedCallMaker>
  private let ready = Mutex(Ready())

  init(_ maker: SignedCallMaker) {
    self.maker = Mutex(maker)
    fill()
  }

  /// The next call; it is signed here when there is none ready.
  func next() throws -> LoadCall {
    let (call, isLow) = ready.withLock { ready in
      (ready.calls.popLast(), ready.calls.count < Self.capacity / 2)
    }
    if isLow { fill() }
    return try (call ?? make()).get()
  }

  /// Signs nothing more; nothing is being signed when it returns. A process that ends takes the
  /// cryptographic library away from under threads that use it.
  func stop() async {
    ready.withLock { $0.isStopped = true }
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume() }
    }
  }

  private func make() -> Result<LoadCall, any Error> {
    maker.withLock { maker in Result { try maker.next() } }
  }

  private func fill() {
    let isNeeded = ready.withLock { ready in
      if ready.isFilling || ready.isStopped { return false }
      ready.isFilling = true
      return true
    }
    guard isNeeded else { return }
    queue.async { [self] in
      var isWanted = true
      while isWanted {
        let call = make()
        isWanted = ready.withLock { ready in
          ready.calls.append(call)
          ready.isFilling = ready.calls.count < Self.capacity && !ready.isStopped
          return ready.isFilling
        }
      }
    }
  }
}
