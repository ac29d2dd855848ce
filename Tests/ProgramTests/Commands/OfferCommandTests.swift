import Cryptography
import EntitlementDomain
import Foundation
import Glibc
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl offer", .timeLimit(.minutes(5)))
struct OfferCommandProgramTests {
  private static let issuer = "11111111-2222-3333-4444-555555555555"
  private static let keyID = "ABC123DEFG"
  private static let product = SimulatedApp.proMonthly.id.rawValue

  private let bench: Bench
  private let pem: String

  init() throws {
    bench = try Bench()
    pem = String(decoding: try SigningKey.generate(.p256).privateKeyPEM(), as: UTF8.self)
    _ = try bench.folder.write(
      SimulatedApp.catalogYAML.replacing(
        "  - id: com.example.scribe.pro.monthly\n    type: auto_renewable\n",
        with: """
            - id: com.example.scribe.pro.monthly
              type: auto_renewable
              offers:
                - {kind: introductory, for: [new, lapsed], overrides: [deny]}
                - {kind: promotional, id: back, for: [lapsed], times: unlimited}
                - {kind: promotional, id: stay, for: [active, cancelled], times: unlimited}

          """), to: "catalog.yaml")
  }

  /// - Parameter hasKey: whether the server has a key. It calls no App Store in any case.
  private func startServer(hasKey: Bool) async throws -> RunningServer {
    let key = try bench.folder.write(pem, to: "AuthKey.p8")
    try #require(chmod(key, 0o600) == 0)
    let settings = """
      app_store:
        keys:
          - issuer_id: \(Self.issuer)
            key_id: \(Self.keyID)
            private_key_file: \(key)
            bundle_ids: [com.example.scribe]

      """
    let file = try bench.folder.write(hasKey ? settings : "idle_seconds: 60\n", to: "settings.yaml")
    let server = try await bench.startServer(
      "--config", file, "--app-store-api",
      "production=http://127.0.0.1:1,sandbox=http://127.0.0.1:1")
    let event = try #require(try bench.signed(.firstPurchase).first)
    let run = try await ProgramRun.of(
      .entitlectl,
      [
        "submit", "-", "--account", "anna", "--server", "\(server.address)",
      ],
      input: (event.transactions + [try #require(event.renewalInfo)]).joined(separator: "\n"))
    try #require(run.exit == .code(0), "\(run.errors)")
    return server
  }

  private func control(_ server: RunningServer, _ arguments: String...) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      ["offer"] + arguments
        + ["--server", "\(server.address)", "--bundle-id", "com.example.scribe"])
  }

  @Test func `verdicts are listed, and offers signed that an independent program verifies`()
    async throws
  {
    let start = Int64(Date().timeIntervalSince1970 * 1_000)
    let server = try await startServer(hasKey: true)
    let list = try await control(server, "list", "anna", "--output", "jsonl")
    #expect(list.exit == .code(0), "\(list.errors)")
    let offers = try list.lines(JSONTree.self)
    #expect(offers.map { $0["offerId"]?.text } == [nil, "back", "stay"])
    #expect(
      offers.map { $0["refusal"]?.text } == [
        "OFFER_REFUSAL_SUBSCRIBED", "OFFER_REFUSAL_SITUATION", nil,
      ])
    let table = try await control(server, "list", "anna")
    #expect(table.output.hasPrefix("PRODUCT "))

    let transaction = "704000000000000001"
    let runs: [(String, [String])] = [
      ("v2", ["sign", "bert", Self.product, "stay"]),
      ("v2", ["sign", "anna", Self.product, "stay", "--reason", "a test"]),
      (
        "v1",
        [
          "sign", "anna", Self.product, "stay", "--format", "v1", "--app-account-token",
          "3F1C8A52-9F0E-4B7D-8A67-5D2E6C90B1F4",
        ]
      ),
      ("introductory", ["introductory", "anna", Self.product]),
      ("introductory", ["introductory", "bert", Self.product, "--transaction", transaction]),
      (
        "introductory",
        ["introductory", "bert", Self.product, "--transaction", transaction, "--deny"]
      ),
    ]
    var cases: [OfferVerifier.Case] = []
    for (form, arguments) in runs {
      let run = try await ProgramRun.of(
        .entitlectl,
        ["offer"] + arguments + [
          "--server", "\(server.address)", "--bundle-id", "com.example.scribe", "--output", "jsonl",
        ])
      if form == "v2", arguments[1] == "bert" {
        #expect(run.exit == .code(2))
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("never had a subscription"))
        #expect(run.errors.contains("(R82)"))
        continue
      }
      try #require(run.exit == .code(0), "\(run.errors)")
      let answer = try JSONDecoder().decode(OfferVerifier.Answer.self, from: Data(run.output.utf8))
      let now = Int64(Date().timeIntervalSince1970 * 1_000)
      let isV1 = form == "v1"
      let bought = try #require(try await boughtTransaction(server))
      cases.append(
        OfferVerifier.Case(
          form, bundleID: "com.example.scribe", keyID: Self.keyID, issuerID: Self.issuer,
          productID: Self.product, offerID: form == "introductory" ? nil : "stay",
          appAccountToken: isV1 ? "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4" : nil,
          transactionID: isV1 ? nil : arguments[1] == "anna" ? bought : transaction,
          allowed: form == "introductory"
            ? arguments[1] == "bert" && !arguments.contains("--deny") : nil,
          signed: start...now, answer))
    }
    let outcome = try OfferVerifier.verify(cases, privateKeyPEM: pem, in: bench.folder)
    #expect(outcome.output == "5 offers verified\n")
    let overridden = try await control(server, "introductory", "anna", Self.product, "--allow")
    #expect(overridden.exit == .code(2))
    let unknown = try await control(server, "sign", "anna", Self.product, "none")
    #expect(unknown.exit == .code(2))
    let audit = try await ProgramRun.of(
      .entitlectl, ["audit", "list", "--server", "\(server.address)", "--output", "jsonl"])
    let entries = try audit.lines(JSONTree.self)
    #expect(entries.count { $0["outcome"]?.text == "disclosed" } == 5)
    for answer in cases.map(\.answer) {
      #expect(!audit.output.contains(answer.signature))
      #expect(audit.output.contains(answer.nonce))
    }
    let details = try await control(server, "sign", "anna", Self.product, "stay")
    #expect(details.output.hasPrefix("product         \(Self.product)\noffer           stay\n"))
    #expect(try await server.stop() == .code(0))
  }

  private func boughtTransaction(_ server: RunningServer) async throws -> String? {
    let run = try await ProgramRun.of(
      .entitlectl,
      [
        "customer", "get", "anna", "--server", "\(server.address)", "--bundle-id",
        "com.example.scribe", "--output", "jsonl",
      ])
    guard case .array(let products)? = try run.lines(JSONTree.self).first?["products"] else {
      return nil
    }
    return products.first?["standing"]?["transactionId"]?.text
  }

  @Test func `without a key a server gives verdicts, and signs nothing`() async throws {
    let server = try await startServer(hasKey: false)
    #expect(try await control(server, "list", "anna").exit == .code(0))
    let run = try await control(server, "sign", "anna", Self.product, "stay")
    #expect(run.exit == .code(2))
    #expect(
      run.errors.contains(
        "this server has no key of the App Store Server API for com.example.scribe"))
    #expect(run.output.isEmpty)
    #expect(try await server.stop() == .code(0))
  }
}
