import Cryptography
import EntitlementDomain
import Foundation
import StoreSimulator
import StoreSimulatorServer
import TestSupport
import Testing

@Suite("Notifications that are posted", .timeLimit(.minutes(2)))
struct NotificationDeliveryTests {
  /// The notifications that were posted, in the order of their arrival.
  private static func received(_ stub: CollectorStub) throws -> [[String: Any]] {
    try stub.requests.map { request in
      let body = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
      return try StoreBench.payload(body?["signedPayload"] as? String)
    }
  }

  private static func names(_ stub: CollectorStub) throws -> [String] {
    try received(stub).map { $0["notificationType"] as? String ?? "" }
  }

  private static func history(_ bench: StoreBench, _ more: String = "") throws -> [[String: Any]] {
    let start = StoreBench.start.rawValue
    let answer = try bench.post(
      "v1/notifications/history",
      "{\"startDate\":\(start),\"endDate\":\(start + 400 * Milliseconds.dayLength)\(more)}")
    return answer.objects("notificationHistory")
  }

  private static func results(_ item: [String: Any]) -> [String] {
    (item["sendAttempts"] as? [[String: Any]] ?? []).map {
      $0["sendAttemptResult"] as? String ?? ""
    }
  }

  @Test func `an action and an advance have posted their notifications before they answer`()
    async throws
  {
    let stub = try CollectorStub()
    let bench = try await StoreBench(.production, notify: "\(stub.url)/hook")
    _ = try bench.buy(SimulatedApp.proMonthly, by: "one")
    #expect(try Self.names(stub) == ["SUBSCRIBED"])
    #expect(stub.requests[0].line == "POST /hook HTTP/1.1")
    #expect(stub.requests[0].fields["content-type"] == "application/json")
    let answer = try bench.advance(days: 93)
    #expect(try Self.names(stub) == ["SUBSCRIBED", "DID_RENEW", "DID_RENEW", "DID_RENEW"])
    #expect(answer.json["delivered"] as? Int == 3 && answer.json["events"] as? Int == 3)
    #expect(answer.json["isComplete"] as? Bool == true)
    let items = try Self.history(bench)
    #expect(items.count == 4 && items.allSatisfy { Self.results($0) == ["SUCCESS"] })
    let first = try StoreBench.payload(items.first?["signedPayload"] as? String)
    #expect(first["notificationType"] as? String == "SUBSCRIBED")
    await bench.stop()
  }

  @Test func `in Production a failure is repeated by Apple's schedule, in virtual time`()
    async throws
  {
    let stub = try CollectorStub([.init(500), .init(503), .init(404)])
    let bench = try await StoreBench(.production, notify: stub.url)
    _ = try bench.buy(SimulatedApp.adFree, by: "one")
    #expect(stub.requests.count == 1)
    try bench.advance(days: 3)
    let uuids = try Self.received(stub).map { $0["notificationUUID"] as? String }
    #expect(uuids.count == 4 && Set(uuids).count == 1)
    let item = try #require(try Self.history(bench).first)
    let failure = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    #expect(Self.results(item) == [failure, failure, failure, "SUCCESS"])
    let dates = (item["sendAttempts"] as? [[String: Any]] ?? []).compactMap {
      $0["attemptDate"] as? Int64
    }
    let hours = zip(dates.dropFirst(), dates).map { ($0 - $1) / Milliseconds.hourLength }
    #expect(hours == [1, 12, 24])
    await bench.stop()
  }

  @Test(
    "What is not repeated",
    arguments: [(StoreEnvironment.production, 400), (.sandbox, 500)])
  func notRepeated(environment: StoreEnvironment, status: Int) async throws {
    let stub = try CollectorStub([.init(status)])
    let bench = try await StoreBench(environment, notify: stub.url)
    _ = try bench.buy(SimulatedApp.adFree, by: "one")
    try bench.advance(days: 10)
    #expect(stub.requests.count == 1)
    #expect(try Self.history(bench, ",\"onlyFailures\":true").count == 1)
    await bench.stop()
  }

  @Test func `what went wrong is told in Apple's words`() async throws {
    let silent = try CollectorStub([.never])
    for (address, patience, result) in [
      ("http://127.0.0.1:1", Duration.seconds(60), "SOCKET_ISSUE"),
      (silent.url, .seconds(3), "TIMED_OUT"),
    ] {
      let bench = try await StoreBench(notify: address, patience: patience)
      _ = try bench.buy(SimulatedApp.adFree, by: "one")
      let item = try #require(try Self.history(bench).first)
      #expect(Self.results(item) == [result], "\(address)")
      await bench.stop()
    }
  }

  @Test func `an answer without its body is an answer`() async throws {
    let stub = try CollectorStub([.headAlone])
    let bench = try await StoreBench(notify: stub.url, patience: .seconds(600))
    _ = try bench.buy(SimulatedApp.adFree, by: "one")
    _ = try bench.buy(SimulatedApp.tokens, by: "one")
    #expect(try Self.history(bench).map(Self.results) == [["SUCCESS"], ["SUCCESS"]])
    await bench.stop()
  }

  @Test func `a silent receiver does not hold up a deadline, and what is left is sent later`()
    async throws
  {
    let stub = try CollectorStub(Array(repeating: .never, count: 16))
    let bench = try await StoreBench(
      population: 20, notify: stub.url, patience: .milliseconds(300))
    let first = try await bench.simulation.play(
      until: StoreBench.start, deadline: .now + .milliseconds(100))
    #expect(!first.isComplete)
    let rest = try await bench.simulation.play(until: StoreBench.start)
    #expect(rest.isComplete)
    let (_, past) = World.begin(
      World.Configuration(
        seed: 1, environment: .sandbox, start: StoreBench.start, population: 20))
    #expect(
      first.attempts + rest.attempts == past.count { $0.event.notification != nil })
    await bench.stop()
  }

  @Test func `the end of the simulation ends postings in flight`() async throws {
    let stub = try CollectorStub([.never])
    let bench = try await StoreBench(notify: stub.url, patience: .seconds(3_600))
    let running = Task { try await bench.simulation.run() }
    let buyer = try HTTPSocket(port: UInt16(bench.listener.port))
    let product = SimulatedApp.adFree.id
    try buyer.request(
      "POST", "/control/buy", [], Array("{\"productId\":\"\(product)\"}".utf8))
    try await eventually { stub.requests.count == 1 }
    running.cancel()
    _ = await running.result
    #expect(try buyer.response().status == 503)
    // The notification is still due.
    #expect(try Self.history(bench).isEmpty)
    await bench.stop()
  }

  @Test func `a running simulation posts what becomes due by itself`() async throws {
    let stub = try CollectorStub()
    let bench = try await StoreBench(notify: stub.url, speed: 8_928)
    _ = try bench.buy(SimulatedApp.proMonthly, by: "one")
    let running = Task { try await bench.simulation.run() }
    bench.clock.advance(by: 6 * 60_000)
    try await eventually { stub.requests.count == 2 }
    #expect(try Self.names(stub) == ["SUBSCRIBED", "DID_RENEW"])
    running.cancel()
    _ = await running.result
    await bench.stop()
  }

  @Test func `the history filters, and pages by tokens`() async throws {
    let stub = try CollectorStub()
    let bench = try await StoreBench(notify: stub.url)
    let one = try bench.buy(SimulatedApp.proMonthly, by: "one")
    for _ in 0..<25 { _ = try bench.buy(SimulatedApp.tokens, by: "two") }
    let start = StoreBench.start.rawValue
    let body = "{\"startDate\":\(start),\"endDate\":\(start + 86_400_000)}"
    let first = try bench.post("v1/notifications/history", body)
    #expect(first.objects("notificationHistory").count == 20)
    #expect(first.json["hasMore"] as? Bool == true)
    let token = try #require(first.text("paginationToken"))
    let content = try Base64Form.urlWithoutPadding.decode(token.utf8)
    var parts = String(decoding: content, as: UTF8.self).split(separator: ".").map(String.init)
    for position in [Int64.max, .min, -1, 1_000] {
      parts[1] = "\(position)"
      let bytes = Base64Form.urlWithoutPadding.encode(Array(parts.joined(separator: ".").utf8))
      let forged = String(decoding: bytes, as: UTF8.self)
      let answer = try bench.post("v1/notifications/history?paginationToken=\(forged)", body)
      #expect(answer.errorCode == 4_000_014, "\(position)")
    }
    let second = try bench.post("v1/notifications/history?paginationToken=\(token)", body)
    #expect(second.objects("notificationHistory").count == 6)
    #expect(second.json["hasMore"] as? Bool == false && second.text("paginationToken") == nil)
    #expect(try Self.history(bench, ",\"transactionId\":\"\(one)\"").count == 1)
    #expect(try Self.history(bench, ",\"notificationType\":\"ONE_TIME_CHARGE\"").count == 20)
    #expect(
      try Self.history(
        bench, ",\"notificationType\":\"SUBSCRIBED\",\"notificationSubtype\":\"RESUBSCRIBE\""
      ).isEmpty)
    #expect(try Self.history(bench, ",\"onlyFailures\":true").isEmpty)
    await bench.stop()
  }

  @Test func `a test notification is sent, and its status told`() async throws {
    let stub = try CollectorStub()
    let bench = try await StoreBench(notify: stub.url)
    let token = try #require(
      try bench.post("v1/notifications/test").text("testNotificationToken"))
    try await eventually { stub.requests.count == 1 }
    try bench.advance(days: 0)
    let status = try bench.get("v1/notifications/test/\(token)")
    #expect(Self.results(status.json) == ["SUCCESS"])
    let payload = try StoreBench.payload(status.text("signedPayload"))
    #expect(payload["notificationType"] as? String == "TEST")
    try bench.advance(days: 190)
    #expect(try bench.get("v1/notifications/test/\(token)").errorCode == 4_040_008)
    await bench.stop()
  }

  @Test(
    "The past of a population",
    arguments: [
      (Simulation.Past.deliver, true, "SUCCESS"), (.missed, false, "NO_RESPONSE"),
      (.sent, false, "SUCCESS"),
    ])
  func past(past: Simulation.Past, isPosted: Bool, result: String) async throws {
    let stub = try CollectorStub()
    let bench = try await StoreBench(
      .production, population: 20, notify: stub.url, past: past)
    try bench.advance(days: 0)
    #expect((stub.requests.count > 20) == isPosted)
    let start = StoreBench.start.rawValue
    let answer = try bench.post(
      "v1/notifications/history",
      "{\"startDate\":\(start - 100 * Milliseconds.dayLength),\"endDate\":\(start)}")
    let items = answer.objects("notificationHistory")
    #expect(items.count == 20 && items.allSatisfy { Self.results($0) == [result] })
    await bench.stop()
  }

  @Test func `attempts are the same, in whatever steps time passes`() async throws {
    var attempts: [[String]] = []
    for step in [60, 7, 1] as [Int64] {
      let stub = try CollectorStub(Array(repeating: .init(503), count: 5_000))
      let bench = try await StoreBench(
        .production, population: 20, notify: stub.url, past: .sent)
      var left: Int64 = 60
      while left > 0 {
        try bench.advance(days: min(step, left))
        left -= step
      }
      attempts.append(
        try Self.history(bench).map { item in
          "\(try StoreBench.payload(item["signedPayload"] as? String)["notificationUUID"] ?? "")"
            + "\((item["sendAttempts"] as? [[String: Any]] ?? []).map { $0["attemptDate"] ?? "" })"
        })
      await bench.stop()
    }
    #expect(attempts[0].count == 20)
    #expect(attempts[0] == attempts[1] && attempts[0] == attempts[2])
    #expect(attempts[0].contains { $0.split(separator: ",").count == 6 })
  }

  // MARK: Faults

  @Test(
    "Faults of notifications",
    arguments: [
      ("lost", 0, ["SUCCESS"]), ("failed", 0, ["NO_RESPONSE"]), ("doubled", 2, ["SUCCESS"]),
      ("late", 0, []),
    ])
  func faults(kind: String, posted: Int, results: [String]) async throws {
    let stub = try CollectorStub()
    let bench = try await StoreBench(.production, notify: stub.url)
    let fault = "{\"on\":\"notifications\",\"kind\":\"\(kind)\",\"count\":1}"
    #expect(try bench.control("faults", fault).objects("faults").count == 1)
    let id = try bench.buy(SimulatedApp.adFree, by: "one")
    #expect(stub.requests.count == posted)
    let items = try Self.history(bench, ",\"transactionId\":\"\(id)\"")
    #expect(items.flatMap(Self.results) == results)
    try bench.advance(days: 1)
    #expect(stub.requests.count == (kind == "lost" ? 0 : max(posted, 1)))
    let cleared = try bench.send("DELETE", "/control/faults")
    #expect(cleared.objects("faults").isEmpty)
    await bench.stop()
  }

  @Test func `reordered notifications come after the others`() async throws {
    let stub = try CollectorStub()
    let bench = try await StoreBench(notify: stub.url)
    let id = try bench.buy(SimulatedApp.proMonthly, by: "one")
    _ = try bench.control("card", "{\"customer\":\"one\",\"works\":false}")
    try bench.advance(days: 32)
    let fault = "{\"on\":\"notifications\",\"kind\":\"reordered\",\"count\":1}"
    _ = try bench.control("faults", fault)
    // Two notifications at once: auto-renewal is off, and the subscription ends.
    _ = try bench.control("cancel", "{\"customer\":\"one\"}")
    #expect(
      try Self.names(stub).suffix(2) == ["EXPIRED", "DID_CHANGE_RENEWAL_STATUS"], "\(id)")
    await bench.stop()
  }

  @Test func `faults of requests`() async throws {
    let bench = try await StoreBench()
    let id = try bench.buy(SimulatedApp.adFree, by: "one")
    func fault(_ more: String) throws {
      let answer = try bench.control("faults", "{\"on\":\"api\",\"count\":1,\(more)}")
      #expect(answer.status == 200)
    }
    try fault("\"kind\":\"error\",\"errorCode\":4040002,\"path\":\"/inApps/v2/history\"")
    #expect(try bench.get("v1/transactions/\(id)").status == 200)
    #expect(try bench.get("v2/history/\(id)").errorCode == 4_040_002)
    #expect(try bench.get("v2/history/\(id)").status == 200)
    try fault("\"kind\":\"error\"")
    let failed = try bench.get("v1/transactions/\(id)")
    #expect(failed.status == 500 && failed.errorCode == 5_000_001)
    try fault("\"kind\":\"error\",\"errorCode\":4290000")
    #expect(try bench.get("v1/transactions/\(id)").retryAfter != nil)
    try fault("\"kind\":\"unauthorized\"")
    #expect(try bench.get("v1/transactions/\(id)").status == 401)
    try fault("\"kind\":\"wrong-environment\"")
    #expect(try bench.get("v1/transactions/\(id)").errorCode == 4_040_010)
    try fault("\"kind\":\"cut\"")
    #expect(throws: HTTPSocket.Failure.self) { try bench.get("v1/transactions/\(id)") }
    try fault("\"kind\":\"slow\",\"delayMs\":50")
    let began = ContinuousClock.now
    #expect(try bench.get("v1/transactions/\(id)").status == 200)
    #expect(ContinuousClock.now - began >= .milliseconds(50))
    #expect(try bench.get("v1/transactions/\(id)").status == 200)
    await bench.stop()
  }
}
