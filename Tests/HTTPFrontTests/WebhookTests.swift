import EntitlementDomain
import EntitlementService
import EntitlementStore
import Foundation
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
    let one = WebhookLimits.Rate(inAll: 1, ofClient: 1)
    let limits = WebhookLimits(strangers: one, knownSigners: one)
    try await HTTPBench.run(webhookLimits: limits) { bench async throws in
      // Costs too little to count, without certificates or with such as need no validation.
      for bad in ["a.b.c", try withoutCertificates(purchase(bench))] {
        for _ in 0..<20 { #expect(try post(body(bad), to: bench).status == 400) }
      }
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

  /// The payload with certificates that are none: refused before anything is computed.
  private func withoutCertificates(_ payload: String) -> String {
    let header = Data(#"{"alg":"ES256","x5c":["AAAA","AAAA","AAAA"]}"#.utf8).base64EncodedString()
    let parts = payload.split(separator: ".")
    return "\(header.replacing("=", with: "")).\(parts[1]).\(parts[2])"
  }

  @Test("Whatever others post, what a known signer signed is taken, also from the same client")
  func knownSignerFirst() async throws {
    let limits = WebhookLimits(strangers: WebhookLimits.Rate(inAll: 1, ofClient: 1))
    try await HTTPBench.run(webhookLimits: limits) { bench async throws in
      let payloads = try bench.service.signed(.firstPurchase, seed: 1).compactMap(\.notification)
      #expect(try post(body(payloads[0]), to: bench).status == 200)
      let stranger = try SigningAuthority.generate()
      let forged = try stranger.sign(purchasePayload: payloads[0])
      try await eventually { try post(body(forged), to: bench).status == 503 }
      #expect(try post(body(try signed(bench)), to: bench).status == 200)
      #expect(try post(body(forged), to: bench).status == 503)
      // Long ones are no usual notifications, whatever they name.
      let long = String(repeating: "A", count: WebhookLimits.usualLength)
      let header = payloads[0].prefix { $0 != "." }
      #expect(try post(body("\(header).\(long).AAAA"), to: bench).status == 503)
    }
  }

  @Test("Whoever copies the certificates of a known signer has the rate of known signers")
  func copiedCertificates() async throws {
    let limits = WebhookLimits(knownSigners: WebhookLimits.Rate(inAll: 1_000_000, ofClient: 1))
    let proxy = try #require(AddressBlock("127.0.0.0/8"))
    try await HTTPBench.run(webhookLimits: limits, trustedProxies: [proxy]) { bench async throws in
      let genuine = try purchase(bench)
      #expect(try post(body(genuine), to: bench).status == 200)
      // One is not even JSON, and one only lacks the signature.
      let parts = genuine.split(separator: ".")
      for forged in [
        "\(parts[0]).AAAA.AAAA", "\(parts[0]).\(parts[1]).\(String(parts[2].reversed()))",
      ] {
        try await eventually {
          let socket = try HTTPSocket(bench.webhook)
          try socket.request(
            "POST", Self.path, [("x-forwarded-for", "198.51.100.7")], Array(body(forged).utf8))
          return try socket.response().status == 503
        }
      }
      #expect(try post(body(try signed(bench)), to: bench).status == 200)
    }
  }

  @Test("Behind trusted proxies each client has rates of its own")
  func clients() async throws {
    let limits = WebhookLimits(strangers: WebhookLimits.Rate(inAll: 1_000_000, ofClient: 1))
    let proxy = try #require(AddressBlock("127.0.0.0/8"))
    try await HTTPBench.run(webhookLimits: limits, trustedProxies: [proxy]) { bench async throws in
      func post(_ payload: String, from clients: String...) throws -> Int {
        let socket = try HTTPSocket(bench.webhook)
        try socket.request(
          "POST", Self.path, clients.map { ("X-Forwarded-For", $0) }, Array(body(payload).utf8))
        return try socket.response().status
      }
      let genuine = try purchase(bench)
      let forged = try SigningAuthority.generate().sign(purchasePayload: genuine)
      try await eventually { try post(forged, from: "198.51.100.7") == 503 }
      // What stands before the last address may be invented.
      #expect(try post(forged, from: "203.0.113.1, 198.51.100.7") == 503)
      #expect(try post(forged, from: "203.0.113.1", "198.51.100.7") == 503)
      #expect(try post(forged, from: "203.0.113.1") == 400)
      // Nothing of this signer was verified before.
      #expect(try post(genuine, from: "203.0.113.2") == 200)
    }
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

extension SigningAuthority {
  /// The same payload, signed by this authority.
  fileprivate func sign(purchasePayload payload: String) throws -> String {
    var text = String(payload.split(separator: ".")[1])
      .replacing("-", with: "+").replacing("_", with: "/")
    while text.utf8.count % 4 != 0 { text += "=" }
    return try sign(payloadJSON: Array(try #require(Data(base64Encoded: text))))
  }
}
