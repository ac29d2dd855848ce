package import EntitlementDomain
package import Logging
import NIOCore
import Synchronization

/// The time of a server in development: the virtual time of a running `storesim serve`, which can be
/// faster than real time, stand still and jump forward. It never goes back within the process.
///
/// While the simulator cannot be reached, time goes on at its last speed.
package final class DevelopmentClock: Sendable {
  private struct State {
    var time: FollowedTime
    var isLost = false
    var isBehind = false
  }

  private let clock: SimulatorClock
  private let logger: Logger
  private let state: Mutex<State>

  /// Between two attempts to reach the simulator.
  private static let pause = Duration.milliseconds(250)
  /// Real time by which the simulator may be behind before the log says so: its answers take a
  /// moment, in which this clock goes on.
  private static let tolerance = 2_000.0

  /// The simulator did not answer.
  package struct Unavailable: Error, CustomStringConvertible {
    /// A sentence for people.
    package let description: String
  }

  /// Asks for the time, repeatedly until there is an answer.
  ///
  /// - Parameters:
  ///   - address: Of the simulator, such as `http://127.0.0.1:7190`; the caller has checked it.
  ///   - time: How long to ask: the simulator may be starting too.
  /// - Throws: ``Unavailable``.
  package static func start(
    following address: String, within time: Duration = .seconds(5), logger: Logger
  ) async throws(Unavailable) -> DevelopmentClock {
    let clock = SimulatorClock(address: address)
    let deadline = NIODeadline.now() + TimeAmount(time)
    while true {
      do throws(SimulatorClock.Unreachable) {
        let reading = try await clock.reading(after: nil)
        return DevelopmentClock(clock, FollowedTime(reading, at: Self.uptime), logger: logger)
      } catch {
        guard NIODeadline.now() < deadline, !Task.isCancelled else {
          throw Unavailable(
            description: "\(address) did not say the time within \(time.components.seconds) s: "
              + error.description)
        }
        try? await Task.sleep(for: pause)
      }
    }
  }

  private init(_ clock: SimulatorClock, _ time: FollowedTime, logger: Logger) {
    self.clock = clock
    self.logger = logger
    state = Mutex(State(time: time))
  }

  /// The virtual time. Safe on any thread.
  package var now: Milliseconds {
    state.withLock { $0.time.now(at: Self.uptime) }
  }

  /// Follows the simulator until the task is cancelled. Call it once.
  package func follow() async {
    // Nil while the simulator is away: another one may have taken its place.
    var revision: Int? = state.withLock { $0.time.revision }
    while !Task.isCancelled {
      do throws(SimulatorClock.Unreachable) {
        let asked = NIODeadline.now()
        let reading = try await clock.reading(after: revision)
        accept(reading)
        // A simulator that does not wait for a change is not asked without a pause.
        let isEarly = reading.revision == revision && NIODeadline.now() - asked < .seconds(1)
        if isEarly { try? await Task.sleep(for: Self.pause) }
        revision = reading.revision
      } catch {
        if Task.isCancelled { return }
        lost(error)
        revision = nil
        try? await Task.sleep(for: Self.pause)
      }
    }
  }

  private func accept(_ reading: ClockReading) {
    let (wasLost, lead, wasBehind) = state.withLock { state in
      let uptime = Self.uptime
      state.time.follow(reading, at: uptime)
      let lead = state.time.lead(at: uptime)
      defer {
        state.isLost = false
        state.isBehind = Double(lead) > Self.tolerance * max(1, reading.speed)
      }
      return (state.isLost, lead, state.isBehind)
    }
    if wasLost { logger.notice("the development clock is followed again") }
    if !wasBehind, state.withLock(\.isBehind) {
      logger.warning(
        "the development clock went back: time stands still until it has caught up",
        metadata: ["seconds": .stringConvertible(lead / Milliseconds.secondsLength)])
    }
  }

  private func lost(_ error: SimulatorClock.Unreachable) {
    let isNew = state.withLock { state in
      defer { state.isLost = true }
      return !state.isLost
    }
    guard isNew else { return }
    logger.warning(
      "the development clock cannot be reached: time goes on at its last speed",
      metadata: ["reason": "\(error.description)"])
  }

  private static var uptime: Int64 { Int64(clamping: NIODeadline.now().uptimeNanoseconds) }
}
