import DevelopmentClock
import EntitlementDomain
import Foundation
import Logging
import StoreSimulator
import StoreSimulatorServer
import Synchronization
import TestSupport
import Testing

@Suite("A clock that follows a simulator", .timeLimit(.minutes(2)))
struct DevelopmentClockTests {
  private static let start = Milliseconds(1_772_366_400_000)
  private static let month = 31 * Milliseconds.dayLength

  /// A simulator whose virtual time stands still, and whose changes of the clock wait for followers.
  private struct Stage {
    let simulation: Simulation
    let listener: StoreListener

    init(port: Int = 0, start: Milliseconds = DevelopmentClockTests.start) async throws {
      var configuration = Simulation.Configuration(
        world: World.Configuration(seed: 1, environment: .sandbox, start: start, population: 0),
        speed: 0)
      configuration.followerPatience = .seconds(60)
      let simulation = try Simulation(
        configuration, authority: try SigningAuthority.generate(), key: try StoreAPIKey.generate(),
        sender: nil, realTime: { Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)) })
      self.simulation = simulation
      listener = try await StoreListener.start(host: "127.0.0.1", port: port) { request in
        await simulation.answer(request)
      }
    }

    var url: String { "http://127.0.0.1:\(listener.port)" }

    func advance(_ milliseconds: Int64) async throws {
      var body = JSONObjectWriter()
      body.set("advanceMs", milliseconds)
      _ = try await ControlClient(base: url).call("POST", "clock", body)
    }
  }

  @Test func `a jump is known when the command that made it ends`() async throws {
    let stage = try await Stage()
    let clock = try await DevelopmentClock.start(following: stage.url, logger: LogRecorder().logger)
    #expect(clock.now == Self.start)
    let following = Task { await clock.follow() }
    try await eventually { await stage.simulation.followerCount == 1 }
    for months in 1...3 {
      try await stage.advance(Self.month)
      #expect(clock.now == Self.start.advanced(by: Int64(months) * Self.month))
    }
    following.cancel()
    await following.value
    await stage.listener.stop()
  }

  @Test func `while the simulator is away time goes on, and it never goes back`() async throws {
    let log = LogRecorder()
    let first = try await Stage()
    let port = first.listener.port
    let clock = try await DevelopmentClock.start(following: first.url, logger: log.logger)
    let following = Task { await clock.follow() }
    try await eventually { await first.simulation.followerCount == 1 }
    try await first.advance(Self.month)
    await first.listener.stop()
    try await eventually { log.messages.count == 1 }
    let last = Self.start.advanced(by: Self.month)
    #expect(clock.now == last)

    // The second one begins where the first one did.
    let second = try await Stage(port: port)
    try await eventually { await second.simulation.followerCount == 1 }
    #expect(
      log.messages == [
        "the development clock cannot be reached: time goes on at its last speed",
        "the development clock is followed again",
        "the development clock went back: time stands still until it has caught up",
      ])
    #expect(clock.now == last)
    try await second.advance(Self.month - 1)
    #expect(clock.now == last)
    try await second.advance(2)
    #expect(clock.now == last.advanced(by: 1))
    following.cancel()
    await following.value
    await second.listener.stop()
  }

  @Test func `without an answer of a simulator there is no clock`() async throws {
    let stage = try await Stage()
    let url = stage.url
    await stage.listener.stop()
    let unreachable = await #expect(throws: DevelopmentClock.Unavailable.self) {
      try await DevelopmentClock.start(
        following: url, within: .zero, logger: LogRecorder().logger)
    }
    #expect(unreachable?.description.hasPrefix("\(url) did not say the time within 0 s: ") == true)
    let other = try await StoreListener.start(host: "127.0.0.1", port: 0) { _ in
      .json(JSONObjectWriter())
    }
    let strange = await #expect(throws: DevelopmentClock.Unavailable.self) {
      try await DevelopmentClock.start(
        following: "http://127.0.0.1:\(other.port)", within: .zero, logger: LogRecorder().logger)
    }
    #expect(strange?.description.hasSuffix(": the answer is not that of a simulator") == true)
    await other.stop()
  }
}

/// Records the texts of log lines.
private final class LogRecorder: Sendable {
  private let recorded = Mutex<[String]>([])

  var messages: [String] { recorded.withLock { $0 } }

  var logger: Logger {
    Logger(label: "test") { _ in Handler(recorder: self) }
  }

  private struct Handler: LogHandler {
    let recorder: LogRecorder
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      recorder.recorded.withLock { $0.append(event.message.description) }
    }
  }
}
