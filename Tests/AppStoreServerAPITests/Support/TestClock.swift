import AppStoreServerAPI
import EntitlementDomain
import NIOCore
import Synchronization

/// Clocks that stand still: a wait advances the clock and returns at once.
final class TestClock: Sendable {
  private struct State {
    var now: Milliseconds
    var uptime = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    var waits: [Duration] = []
  }

  private let state: Mutex<State>

  /// 2026-11-25T12:00:00Z.
  static let start = Milliseconds(1_795_608_000_000)

  init(now: Milliseconds = TestClock.start) {
    state = Mutex(State(now: now))
  }

  var now: Milliseconds { state.withLock { $0.now } }
  var uptime: NIODeadline { state.withLock { $0.uptime } }
  /// All waits, in their order.
  var waits: [Duration] { state.withLock { $0.waits } }

  func advance(by time: Duration) {
    state.withLock { Self.advance(&$0, by: TimeAmount(time)) }
  }

  /// Sets the wall clock alone.
  func set(_ now: Milliseconds) {
    state.withLock { $0.now = now }
  }

  var clock: AppStoreServerClock {
    AppStoreServerClock(now: { self.now }, uptime: { self.uptime }) { end in
      try Task.checkCancellation()
      self.state.withLock { state in
        let time = max(TimeAmount.zero, end - state.uptime)
        state.waits.append(Duration(time))
        Self.advance(&state, by: time)
      }
    }
  }

  private static func advance(_ state: inout State, by time: TimeAmount) {
    state.uptime = state.uptime + time
    state.now = state.now.advanced(by: time.nanoseconds / 1_000_000)
  }
}
