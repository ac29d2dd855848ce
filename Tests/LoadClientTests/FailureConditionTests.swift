import Testing

@testable import LoadClient

@Suite("Conditions under which a run fails")
struct FailureConditionTests {
  /// 100 calls of 1 to 100 ms in 10 s, and 2 errors.
  static let result: LoadResult = {
    var tally = Tally()
    for milliseconds in 1...100 {
      tally.answered(
        .hot, nanoseconds: Int64(milliseconds) * 1_000_000, sentBytes: 10, receivedBytes: 20)
    }
    for _ in 0..<2 { tally.refused(.cold, code: "UNAVAILABLE", nanoseconds: 1_000) }
    return LoadResult(
      total: tally, seconds: [], length: 10, server: nil, ownProcessorTime: 1e6,
      isInterrupted: false, isServerGone: false)
  }()

  @Test(
    "a condition that is met is reported with the measured value",
    arguments: [
      ("p50>49ms", "p50>49ms: p50 is 50.0 ms"),
      ("p90 >= 0.05s", "p90 >= 0.05s: p90 is 90.0 ms"),
      ("p99>98000us", "p99>98000us: p99 is 99.0 ms"),
      ("p99>98000µs", "p99>98000µs: p99 is 99.0 ms"),
      ("p99.9>99ms", "p99.9>99ms: p99.9 is 100 ms"),
      ("max<1s", "max<1s: max is 100 ms"),
      ("errors>1", "errors>1: errors is 2.00"),
      ("errors>1%", "errors>1%: errors is 1.96 %"),
      ("errors > 1.9 %", "errors > 1.9 %: errors is 1.96 %"),
      ("calls/s<11", "calls/s<11: calls/s is 10.2"),
    ])
  func met(text: String, told: String) throws {
    #expect(try FailureCondition(parsing: text).violation(by: Self.result) == told)
  }

  @Test(
    "a condition that is not met is not reported",
    arguments: [
      "p50>51ms", "p99<90ms", "p99.9>101ms", "max>=101ms", "errors>2", "errors>=2%",
      "errors>1.97 %",
      "calls/s<=10", "p90<1us",
    ])
  func notMet(text: String) throws {
    #expect(try FailureCondition(parsing: text).violation(by: Self.result) == nil)
  }

  @Test(
    "a wrong text has its error",
    arguments: [
      ("p99", "\"p99\" has no comparison: a condition is a metric, >, <, >= or <=, and a value"),
      (
        "p98>1ms",
        "\"p98\" is not a metric; the metrics are p50, p90, p99, p99.9, max, errors, calls/s"
      ),
      ("p99>", "\"\" does not begin with a number of 0 or more"),
      ("p99>ms", "\"ms\" does not begin with a number of 0 or more"),
      ("p99>-1ms", "\"-1ms\" does not begin with a number of 0 or more"),
      ("p99>5", "p99 takes a number with us, ms or s"),
      ("p99>5%", "p99 takes a number with us, ms or s"),
      ("p99>5min", "p99 takes a number with us, ms or s"),
      ("errors>5ms", "errors takes a number, with or without %"),
      ("calls/s<5%", "calls/s takes a number without a unit"),
    ])
  func errors(text: String, reason: String) {
    let error = #expect(throws: FailureCondition.ParseError.self) {
      try FailureCondition(parsing: text)
    }
    #expect(error?.description == reason)
  }
}
