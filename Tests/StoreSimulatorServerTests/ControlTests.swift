import EntitlementDomain
import Foundation
import StoreSimulator
import StoreSimulatorServer
import TestSupport
import Testing

@Suite("The control interface", .timeLimit(.minutes(2)))
struct ControlTests {
  @Test func `the clock stands, jumps, runs, and never goes back`() async throws {
    let bench = try await StoreBench()
    func now() throws -> Int64 {
      try bench.send("GET", "/control/clock").json["now"] as? Int64 ?? 0
    }
    #expect(try now() == StoreBench.start.rawValue)
    bench.clock.advance(by: 60_000)
    #expect(try now() == StoreBench.start.rawValue)
    try bench.advance(days: 31)
    let later = StoreBench.start.rawValue + 31 * Milliseconds.dayLength
    #expect(try now() == later)
    #expect(try bench.control("clock", "{\"setMs\":\(later - 1)}").status == 409)
    #expect(try bench.control("clock", "{}").status == 400)
    #expect(try bench.control("clock", "{\"speed\":8928.5}").json["speed"] as? Double == 8_928.5)
    bench.clock.advance(by: 1_000)
    #expect(try now() == later + 8_928_500)
    await bench.stop()
  }

  @Test func `a clock that runs lets subscriptions renew`() async throws {
    let bench = try await StoreBench(speed: 8_928)
    let id = try bench.buy(SimulatedApp.proMonthly, by: "one")
    bench.clock.advance(by: 16 * 60_000)
    #expect(try bench.get("v2/history/\(id)").texts("signedTransactions").count == 4)
    await bench.stop()
  }

  @Test func `a clock ends with the calendar, at any speed`() {
    for start in [StoreBench.start, nil] {
      let clock = StoreClock(
        start: start, speed: StoreClock.maximumSpeed, real: StoreBench.realStart)
      #expect(clock.now(real: Milliseconds(.max)) == SimulatedCalendar.range.upperBound)
    }
  }

  @Test func `a real clock is not set`() async throws {
    let bench = try await StoreBench(speed: nil)
    let clock = try bench.send("GET", "/control/clock").json
    #expect(clock["isReal"] as? Bool == true)
    #expect(clock["now"] as? Int64 == bench.clock.now.rawValue)
    #expect(try bench.control("clock", "{\"advanceMs\":1}").status == 409)
    await bench.stop()
  }

  @Test func `clients that follow the clock know a change before notifications and answers come`()
    async throws
  {
    let stub = try CollectorStub()
    let bench = try await StoreBench(notify: stub.url)
    _ = try bench.buy(SimulatedApp.proMonthly, by: "one")
    let end = 31 * Milliseconds.dayLength
    let revision = try #require(
      try bench.send("GET", "/control/clock").json["revision"] as? Int)
    let follower = try HTTPSocket(port: UInt16(bench.listener.port))
    try follower.request("GET", "/control/clock?after=\(revision)&waitMs=60000", [])
    // The advance waits for the next request of the follower.
    let advanced = try HTTPSocket(port: UInt16(bench.listener.port))
    try await eventually { await bench.simulation.followerCount == 1 }
    // The subscription, which was bought a millisecond after the start, renews at the target.
    let target = StoreBench.start.rawValue + end + 1
    let body = Array("{\"setMs\":\(target)}".utf8)
    try advanced.request("POST", "/control/clock", [], body)
    let heard = try follower.response()
    let told = try JSONSerialization.jsonObject(with: Data(heard.body)) as? [String: Any]
    #expect(told?["revision"] as? Int == revision + 1)
    #expect(told?["now"] as? Int64 == target)
    #expect(stub.requests.count == 1)
    #expect(!advanced.canRead(within: 50))
    #expect(stub.requests.count == 1)
    try follower.request("GET", "/control/clock?after=\(revision + 1)&waitMs=60000", [])
    #expect(try advanced.response().status == 200)
    #expect(stub.requests.count == 2)
    let silent = try bench.send("GET", "/control/clock?after=\(revision + 1)&waitMs=1")
    #expect(silent.json["revision"] as? Int == revision + 1)
    // Waiting clients are answered when the server stops.
    await bench.stop()
    #expect(try follower.response().status == 200)
  }

  @Test func `customers, what is expected of them, and what the app sells`() async throws {
    let bench = try await StoreBench(population: 5)
    let page = try bench.send("GET", "/control/customers?limit=3").objects("customers")
    #expect(
      page.map { $0["customer"] as? String } == ["customer-001", "customer-002", "customer-003"])
    #expect(page.allSatisfy { $0["transactions"] == nil })
    #expect(page.map { $0["lifeCycle"] as? String } == ["first-purchase", "renewals", "cancelled"])
    let rest = try bench.send("GET", "/control/customers?after=customer-003")
    #expect(rest.objects("customers").count == 2 && rest.json["hasMore"] as? Bool == false)
    let bought = try bench.control(
      "buy",
      "{\"productId\":\"com.example.scribe.pro.monthly\","
        + "\"appAccountToken\":\"7E3FB20B-4CDB-47CC-936D-99D65F608138\"}")
    #expect(bought.text("customer") == "customer-006")
    let one = try bench.send("GET", "/control/customers/customer-006")
    #expect(one.objects("transactions").count == 1)
    #expect(one.text("appAccountToken") == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
    let expected = try #require(one.objects("expected").first)
    #expect(expected["status"] as? String == "ACTIVE" && expected["willRenew"] as? Bool == true)
    let information = try bench.send("GET", "/control/info")
    #expect(information.objects("products").count == SimulatedApp.products.count)
    #expect(information.json["customers"] as? Int == 6)
    await bench.stop()
  }

  @Test(
    "What is refused",
    arguments: [
      (400, "buy", "{}"), (400, "buy", "{\"productId\":\"none\"}"), (400, "buy", "{"),
      (400, "buy", "{\"productId\":\"com.example.scribe.adfree\",\"customer\":\"a b\"}"),
      (400, "buy", "{\"productId\":\"com.example.scribe.adfree\",\"appAccountToken\":\"x\"}"),
      (400, "buy", "{\"productId\":\"com.example.scribe.adfree\",\"offer\":\"free\"}"),
      (404, "cancel", "{\"customer\":\"nobody\"}"), (404, "refund", "{\"transactionId\":\"1\"}"),
      (404, "nothing", "{}"), (400, "card", "{\"customer\":\"one\"}"),
      (409, "share", "{\"customer\":\"one\"}"),
      (400, "request-consumption", "{\"transactionId\":\"1\",\"reason\":\"NONE\"}"),
      (400, "faults", "{\"on\":\"api\",\"kind\":\"lost\"}"),
      (400, "faults", "{\"on\":\"api\",\"kind\":\"error\",\"errorCode\":1}"),
      (400, "faults", "{\"on\":\"api\",\"kind\":\"cut\",\"probability\":2}"),
      (400, "clock", "{\"advanceMs\":-1}"), (400, "clock", "{\"advanceMs\":9000000000000}"),
      (400, "clock", "{\"advanceMs\":9223372036854775807}"),
    ])
  func refused(status: Int, path: String, body: String) async throws {
    let bench = try await StoreBench()
    _ = try bench.buy(SimulatedApp.adFree, by: "one")
    let answer = try bench.control(path, body)
    #expect(answer.status == status)
    #expect(answer.text("error") != nil && answer.type == "application/json")
    await bench.stop()
  }
}
