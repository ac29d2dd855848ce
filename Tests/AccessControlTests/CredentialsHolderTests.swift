import AccessControl
import EntitlementDomain
import NIOCore
import Synchronization
import Testing
import Wire

@Suite("The credentials in force")
struct CredentialsHolderTests {
  private static let start = NIODeadline.uptimeNanoseconds(3_600_000_000_000)
  private let clock = Clock()

  private final class Clock: Sendable {
    let now = Mutex<Milliseconds>(1_000)
  }

  private func contents(_ callers: String...) throws -> CredentialsFile.Contents {
    let lines = callers.map { "  - {name: \($0), roles: [reader]}\n" }
    return try CredentialsFile.parse(
      "version: 1\ncallers:\n" + lines.joined(), user: { _ in nil })
  }

  private func holder(_ contents: CredentialsFile.Contents) -> CredentialsHolder {
    CredentialsHolder(contents, digest: "d1") { [clock] in clock.now.withLock { $0 } }
  }

  private func names(_ holder: CredentialsHolder) -> [String] {
    holder.snapshot.credentials.entries.map(\.caller.name)
  }

  @Test("A replacement is in force at once, has its moment, and another generation")
  func replacement() throws {
    let holder = holder(try contents("a", "b"))
    let first = holder.generation
    #expect(names(holder) == ["a", "b"])
    #expect(holder.snapshot.digest == "d1")
    #expect(holder.snapshot.inForceSince == 1_000)
    #expect(holder.snapshot.warnings.map(\.field) == ["callers[0]", "callers[1]"])
    #expect(holder.generation == first, "reading changes nothing")
    clock.now.withLock { $0 = 2_000 }
    holder.replace(with: try contents("c"), digest: "d2")
    #expect(holder.generation != first)
    #expect(names(holder) == ["c"])
    #expect(holder.snapshot.digest == "d2")
    #expect(holder.snapshot.inForceSince == 2_000)
    #expect(holder.snapshot.warnings.map(\.field) == ["callers[0]"])
    #expect(holder.now == 2_000)
  }

  @Test("What a caller has used survives reloads, by its name")
  func meters() throws {
    func meter(_ holder: CredentialsHolder, _ name: String) throws -> CallerMeter {
      try #require(holder.snapshot.credentials.entries.first { $0.caller.name == name })
        .caller.meter
    }
    let holder = holder(try contents("a, limits: {reads_per_second: 1}", "b"))
    let first = try meter(holder, "a")
    #expect(first.charge(.reads(1), now: Self.start) == nil)
    #expect(try meter(holder, "b") !== first)
    holder.replace(with: try contents("a, limits: {reads_per_second: 1}"), digest: "d2")
    #expect(try meter(holder, "a") === first)
    #expect(try meter(holder, "a").charge(.reads(1), now: Self.start) == .seconds(1))
    // A caller that is removed and comes back is the same.
    holder.replace(with: try contents("b"), digest: "d3")
    holder.replace(with: try contents("a, limits: {in_flight: 3}", "b"), digest: "d4")
    #expect(try meter(holder, "a") === first)
    #expect(first.limits == CallerLimits(inFlight: 3), "the limits are those of the file in force")
  }

  @Test("Observers are called after each replacement, when it is in force")
  func observers() throws {
    let holder = holder(try contents("a"))
    let log = Log()
    holder.onReplacement { log.add("first \(holder.snapshot.digest)") }
    holder.onReplacement { log.add("second \(holder.snapshot.digest)") }
    holder.record(CredentialsAttempt(at: 1, isValid: false))
    #expect(log.lines == [])
    holder.replace(with: try contents("b"), digest: "d2")
    holder.replace(with: try contents("a"), digest: "d3")
    #expect(log.lines == ["first d2", "second d2", "first d3", "second d3"])
  }

  private final class Log: Sendable {
    private let content = Mutex<[String]>([])
    func add(_ line: String) { content.withLock { $0.append(line) } }
    var lines: [String] { content.withLock { $0 } }
  }

  @Test("A failed attempt is told, and leaves the old credentials in force")
  func attempts() throws {
    let holder = holder(try contents("a"))
    let generation = holder.generation
    #expect(holder.status.lastAttempt == nil)
    let attempt = CredentialsAttempt(at: 7, isValid: false, digest: "d2", failure: "no such file")
    holder.record(attempt)
    #expect(holder.status.lastAttempt == attempt)
    #expect(holder.status.snapshot.digest == "d1")
    #expect(holder.generation == generation)
  }
}
