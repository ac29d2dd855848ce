import EntitlementDomain
import EntitlementService
import EntitlementStore
import Framing
@testable import HTTPFront
import Logging
import NIOCore
import RPCClient
import RPCServer
import ServiceSupport
import StoreSimulator
import TestSupport
import Testing
import Wire

@Suite("The webhook of the App Store")
struct WebhookTests {
  private static let path = "/apple/notifications"

  private func post(
    _ body: String, to bench: HTTPBench, path: String = path
  ) throws -> HTTPSocket.Response {
    let socket = try HTTPSocket(bench.webhook)
    try socket.request(
      "POST", path, [("content-type", "application/json; charset=utf-8")], Array(body.utf8))
    return try socket.response()
  }

  private func body(_ payload: String) -> String {
    "{\"signedPayload\":\"\(payload)\",\"later\":{\"other\":1}}"
  }

  private func purchase(_ bench: HTTPBench) throws -> String {
    try #require(
      try bench.service.signed(.firstPurchase, seed: 1).compactMap(\.notification).first)
  }

  private func signed(
    _ bench: HTTPBench, app: BundleID = SimulatedApp.bundleID,
    environment: StoreEnvironment = .production
  ) throws -> String {
    let notification = StoreNotification(
      type: "TEST", subtype: nil, uuid: "00000000-0000-0000-0000-00000000000e",
      signedDate: ServiceBench.now, environment: environment,
      appAppleID: SimulatedApp.appAppleID, bundleID: app, status: nil)
    return try bench.service.authority.sign(
      payloadJSON: notification.json(signedTransaction: nil, signedRenewalInfo: nil))
  }

  @Test("A notification is stored when it is answered with 200, and known again is 200 too")
  func stored() async throws {
    try await HTTPBench.run { bench async throws in
      let payload = try purchase(bench)
      let first = try post(body(payload), to: bench)
      #expect(first.status == 200, "\(first.text)")
      #expect(first.text == "stored\n")
      #expect(try await changes(bench) > 0)
      let stored = try await changes(bench)
      #expect(try post(body(payload), to: bench).text == "known\n")
      #expect(
        try post(body(payload), to: bench, path: "\(Self.path)/\(SimulatedApp.bundleID)").status
          == 200)
      #expect(try await changes(bench) == stored)
    }
  }

  private func changes(_ bench: HTTPBench) async throws -> Int {
    try await ChangeFeed(store: bench.service.store).changes(after: 0, limit: 100).count
  }

  @Test("What Apple did not sign is 400, and nothing is stored")
  func refused() async throws {
    try await HTTPBench.run { bench async throws in
      let payload = try purchase(bench)
      let stranger = try SigningAuthority.generate()
      let parts = payload.split(separator: ".")
      let tampered = "\(parts[0]).\(parts[1].dropLast(4))AAAA.\(parts[2])"
      let forged = try stranger.sign(payloadJSON: Array(#"{"notificationType":"TEST"}"#.utf8))
      for bad in [tampered, forged, "a.b.c", "", "nothing"] {
        #expect(try post(body(bad), to: bench).status == 400, "\(bad.prefix(20))")
      }
      for text in ["", "[]", "{}", "{\"signedPayload\":1}", "no json", "\"a\""] {
        #expect(try post(text, to: bench).status == 400, "\(text)")
      }
      #expect(try await changes(bench) == 0)
    }
  }

  @Test("A version 1 notification is answered with what to choose in App Store Connect")
  func versionOne() async throws {
    try await HTTPBench.run { bench async throws in
      for text in [
        "{\"notification_type\":\"INITIAL_BUY\",\"password\":\"p\"}", "{\"unified_receipt\":{}}",
      ] {
        let response = try post(text, to: bench)
        #expect(response.status == 400)
        #expect(response.text.contains("choose version 2"))
        #expect(response.text.contains("App Information > App Store Server Notifications"))
      }
    }
  }

  @Test("A body that belongs elsewhere is 400, with what it is and where it belongs")
  func misplaced() async throws {
    try await HTTPBench.run { bench async throws in
      let payload = try purchase(bench)
      let transaction = try #require(
        try bench.service.signed(.firstPurchase, seed: 1).first?.transactions.first)
      for (text, words) in [
        (payload, "the body is JSON, with a notification as its signedPayload"),
        ("{\"signedTransactionInfo\":\"\(transaction)\"}", "App Store Server API"),
        ("{\"notificationType\":\"TEST\"}", "without its signature"),
        (body(transaction), "submit it with SubmitSignedTransactions"),
        (body("MIIT"), "app receipt"), (body("\\\"\(payload)\\\""), "in quotes"),
      ] {
        let response = try post(text, to: bench)
        #expect(response.status == 400)
        #expect(response.text.contains(words), "\(response.text)")
        #expect(!response.text.contains(payload) && !response.text.contains(transaction))
      }
      #expect(try await changes(bench) == 0)
    }
  }

  @Test("Another app than that of the path is 400, and one that the catalog lacks 503")
  func apps() async throws {
    try await HTTPBench.run { bench async throws in
      let payload = try purchase(bench)
      #expect(
        try post(body(payload), to: bench, path: "\(Self.path)/com.example.other").status == 503)
      let other = try signed(bench, app: "com.example.other")
      #expect(
        try post(body(other), to: bench, path: "\(Self.path)/\(SimulatedApp.bundleID)").status
          == 400)
      let unknown = try post(body(other), to: bench)
      #expect(unknown.status == 503)
      #expect(unknown["retry-after"] == "60")
      #expect(try await changes(bench) == 0)
      #expect(try post(body(try signed(bench)), to: bench).status == 200)
    }
  }

  @Test("Only notifications are taken: no method is reached")
  func nothingElse() async throws {
    try await HTTPBench.run { bench async throws in
      let socket = try HTTPSocket(bench.webhook)
      let cases: [(String, String, Int)] = [
        ("GET", Self.path, 405), ("GET", "/healthz", 200), ("GET", "/readyz", 404),
        ("GET", "/metrics", 404), ("POST", "\(Self.path)/a/b", 404), ("POST", "\(Self.path)x", 404),
        ("POST", "/entitle.v1.SubmissionService/SubmitNotification", 404),
        ("POST", "/entitle.v1.AdminService/GetStatistics", 404),
      ]
      for (method, path, status) in cases {
        try socket.request(
          method, path, [("content-type", "application/json")],
          method == "POST" ? Array("{}".utf8) : [])
        #expect(try socket.response().status == status, "\(method) \(path)")
      }
    }
  }

  @Test("With access control, the App Store needs no token, and is the caller of its notifications")
  func caller() async throws {
    let access = try BenchAccess([])
    try await HTTPBench.run(access: access) { bench async throws in
      #expect(try post(body(try purchase(bench)), to: bench).status == 200)
      #expect(bench.service.server.refusals.isEmpty)
    }
  }

  @Test("Beyond the rate of failures, what is posted is put off")
  func failures() async throws {
    let limits = WebhookLimits(failuresPerSecond: 1)
    try await HTTPBench.run(webhookLimits: limits) { bench async throws in
      // Costs too little to count.
      for _ in 0..<20 { #expect(try post(body("a.b.c"), to: bench).status == 400) }
      // Signed by the App Store, for somebody else's app.
      let other = try body(signed(bench, app: "com.example.other"))
      let path = "\(Self.path)/\(SimulatedApp.bundleID)"
      var response = try post(other, to: bench, path: path)
      #expect(response.status == 400)
      try await eventually {
        response = try post(other, to: bench, path: path)
        return response.status != 400
      }
      #expect(response.status == 503)
      #expect(response["retry-after"] == "60")
    }
  }

  @Test("Failed verifications and bytes of all connections have rates")
  func budget() {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let budget = WebhookBudget(
      WebhookLimits(bytesPerSecond: 1_000, failuresPerSecond: 2), logger: logger)
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    #expect(budget.admits(now: start))
    budget.verificationFailed(now: start)
    #expect(budget.admits(now: start))
    budget.verificationFailed(now: start)
    #expect(!budget.admits(now: start))
    #expect(!budget.admits(now: start + .milliseconds(400)))
    #expect(budget.admits(now: start + .milliseconds(600)))

    let later = start + .seconds(10)
    budget.received(bytes: 900, now: later)
    #expect(budget.admits(now: later))
    budget.received(bytes: 900, now: later)
    #expect(!budget.admits(now: later))
    #expect(!budget.admits(now: later + .milliseconds(700)))
    #expect(budget.admits(now: later + .milliseconds(900)))
  }

  @Test(
    "A connection with many refused notifications is closed",
    arguments: [(isSigned: false, status: 400), (isSigned: true, status: 503)])
  func penalty(isSigned: Bool, status: Int) async throws {
    try await HTTPBench.run { bench async throws in
      let socket = try HTTPSocket(bench.webhook)
      let payload = isSigned ? try signed(bench, app: "com.example.other") : "a.b.c"
      var answered = 0
      while true {
        try socket.request("POST", Self.path, [], Array(body(payload).utf8))
        let response = try socket.response()
        #expect(response.status == status)
        answered += 1
        if response["connection"] == "close" { break }
        // At most as many as tokens, if the machine is so slow that they are refilled.
        if answered > 1_000 { break }
      }
      #expect(answered <= 1_000)
      #expect(try socket.isAtEnd())
    }
  }

  @Test("A body beyond one MiB is 413")
  func tooLong() async throws {
    try await HTTPBench.run { bench async throws in
      let long = String(repeating: "a", count: 1_048_576)
      #expect(try post(body(long), to: bench).status == 413)
    }
  }
}
