import Testing
import Wire

@testable import OperatorCommands

@Suite("The version of a server in tables")
struct ServerVersionTests {
  @Test func `health shows it after the status, if the server sends it`() {
    let old = HealthCheckResponse(status: .notServing)
    #expect(HealthCommand.text(of: old) == "NOT_SERVING")
    let new = HealthCheckResponse(status: .serving, version: "1.2.3\u{1b}")
    #expect(HealthCommand.text(of: new) == "SERVING, version 1.2.3\\u{1b}")
  }

  @Test func `health shows each warning on a line of its own`() {
    var response = HealthCheckResponse(status: .serving, warnings: ["a root", "two\nlines"])
    #expect(
      HealthCommand.text(of: response) == """
        SERVING
        warning: a root
        warning: two\\u{a}lines
        """)
    response.version = "1.2.3"
    #expect(HealthCommand.text(of: response).hasPrefix("SERVING, version 1.2.3\nwarning: a root\n"))
  }

  @Test func `statistics show it before the counters, if the server sends it`() {
    let counters = [StatisticsCounter(name: "grants.added", value: 12)]
    let old = GetStatisticsResponse(counters: counters)
    #expect(
      StatisticsCommand.table(of: old) == """
        NAME          VALUE
        grants.added  12
        """)
    let new = GetStatisticsResponse(counters: counters, version: "1.2.3")
    #expect(
      StatisticsCommand.table(of: new) == """
        NAME          VALUE
        version       1.2.3
        grants.added  12
        """)
  }
}
