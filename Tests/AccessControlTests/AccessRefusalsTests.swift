import AccessControl
import Testing

@Suite("Counts of refused calls")
struct AccessRefusalsTests {
  private static let start = ContinuousClock.now

  @Test("Every refusal is counted, by caller and reason")
  func totals() {
    let refusals = AccessRefusals()
    #expect(refusals.totals.isEmpty)
    for _ in 0..<3 { _ = refusals.count(.init("a", .rate), now: Self.start) }
    _ = refusals.count(.init("a", .scope), now: Self.start)
    _ = refusals.count(.init("b", .rate), now: Self.start)
    _ = refusals.count(.init(nil, .refused), now: Self.start)
    #expect(
      refusals.totals == [
        .init("a", .rate): 3, .init("a", .scope): 1, .init("b", .rate): 1, .init(nil, .refused): 1,
      ])
  }

  @Test("The log has one line in ten seconds for each caller and reason, with the number since")
  func logLines() {
    let refusals = AccessRefusals()
    let key = AccessRefusals.Key("a", .permission)
    #expect(refusals.count(key, now: Self.start) == 1)
    for second in 1..<10 {
      #expect(refusals.count(key, now: Self.start + .seconds(second)) == nil)
    }
    #expect(refusals.count(key, now: Self.start + .milliseconds(9_999)) == nil)
    // Others have lines of their own.
    #expect(refusals.count(.init("b", .permission), now: Self.start + .seconds(9)) == 1)
    #expect(refusals.count(.init("a", .scope), now: Self.start + .seconds(9)) == 1)
    #expect(refusals.count(key, now: Self.start + .seconds(10)) == 11)
    #expect(refusals.count(key, now: Self.start + .seconds(11)) == nil)
    #expect(refusals.count(key, now: Self.start + .seconds(60)) == 2)
    #expect(refusals.totals[key] == 14)
  }

  @Test("The reasons are those of the documentation, each of its own")
  func reasons() {
    #expect(
      AccessRefusal.allCases.map(\.rawValue) == [
        "CREDENTIAL_MISSING", "CREDENTIAL_REFUSED", "PERMISSION_MISSING", "APP_NOT_PERMITTED",
        "RATE_LIMITED", "TOO_MANY_CALLS", "TOO_MANY_CONNECTIONS",
      ])
  }
}
