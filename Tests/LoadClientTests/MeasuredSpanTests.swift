import NIOCore
import RPCServer
import Synchronization
import Testing
import Wire

@testable import LoadClient

@Suite("The length of the measurement", .timeLimit(.minutes(1)))
struct MeasuredSpanTests {
  /// A tally of calls of a microsecond each.
  private func tally(_ calls: Int) -> Tally {
    var tally = Tally()
    for _ in 0..<calls {
      tally.answered(.hot, nanoseconds: 1_000, sentBytes: 1, receivedBytes: 1)
    }
    return tally
  }

  @Test("it ends with the last call; faults that are found later count")
  func end() throws {
    let start = NIODeadline.now() - .seconds(10)
    let plan = try LoadStage().plan(.closed(inFlight: 1), duration: .seconds(2))
    var meter = SecondMeter(
      plan: plan, server: nil, measureFrom: start, observer: RunObserver())
    try meter.add(tally(5), inFlight: 1, at: start + .seconds(1))
    try meter.finish(tally(7), at: start + .milliseconds(2_500))
    var late = Tally()
    late.foundWrong("late")
    meter.addLate(late)
    let result = meter.result(isInterrupted: false, isServerGone: false)
    #expect(result.length == 2.5)
    #expect(result.seconds.map(\.end) == [1, 2.5])
    #expect(result.seconds.map(\.length) == [1, 1.5])
    #expect(result.seconds.map(\.calls) == [5, 7])
    #expect(result.rate == 4.8)
    #expect(result.total.wrong == 1)
  }

  @Test("a rest without calls is not a second, but part of the measurement")
  func quietEnd() throws {
    let start = NIODeadline.now() - .seconds(10)
    let plan = try LoadStage().plan(.closed(inFlight: 1), duration: .seconds(2))
    var meter = SecondMeter(
      plan: plan, server: nil, measureFrom: start, observer: RunObserver())
    try meter.add(tally(5), inFlight: 1, at: start + .seconds(1))
    try meter.finish(Tally(), at: start + .milliseconds(1_250))
    let result = meter.result(isInterrupted: false, isServerGone: false)
    #expect(result.length == 1.25)
    #expect(result.seconds.map(\.end) == [1])
  }

  @Test("comparing the last answers does not lengthen it")
  func comparing() async throws {
    let stage = try LoadStage()
    // One call for many customers that are unknown to this server. It is short, and the comparisons
    // take many times as long.
    let count = BatchGetCustomerStateRequest.maximumCustomers
    let unknownAccount = LoadStage.state(of: BulkCustomers.account(at: 0))
    let unknown = try BatchGetCustomerStateResponse(
      results: [GetCustomerStateResponse](repeating: .state(unknownAccount), count: count)
    ).encoded()
    let answered = Mutex(ContinuousClock.now)
    var router = RPCRouter()
    let method = WireMethods.batchGetCustomerState
    router.unary(method) { _, answer in
      answered.withLock { $0 = .now }
      answer.succeed(unknown)
    }
    let server = try await stage.server(router)
    /// - Returns: the result of a run, and the time from its last answer to its end.
    func run() async throws -> (LoadResult, late: Double) {
      let load = try stage.load(
        .closed(inFlight: 1), count: 4, checks: .all, mix: "batch=1", customers: 1_000_000)
      let result = try await load.run()
      return (result, (ContinuousClock.now - answered.withLock { $0 }) / .seconds(1))
    }
    // A stall of the machine during the calls lengthens both. With the comparisons in it, the
    // measurement would never be the shorter one.
    var (result, late) = try await run()
    for _ in 0..<20 where result.length >= late / 2 { (result, late) = try await run() }
    await server.shutDown()
    #expect(result.total.checked == 4)
    #expect(result.total.wrong > 3 * count)
    #expect(result.length < late / 2)
    #expect(result.seconds.map(\.length).reduce(0, +) < late / 2)
  }
}
