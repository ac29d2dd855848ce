import AppStoreServerAPI
import Cryptography
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Foundation
import Framing
import NIOCore
import RPCClient
import ServiceSupport
import StoreSimulator
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("Offers on the wire", .timeLimit(.minutes(2)))
struct OfferEndpointTests {
  private static let scope = ServiceBench.scope
  private static let product = SimulatedApp.proMonthly.id
  private static let issuerID = "11111111-2222-3333-4444-555555555555"
  private static let keyID = "ABC123DEFG"
  private static let key = Result { try SigningKey.generate(.p256) }

  /// The catalog of the simulated app, with offers.
  private static let catalog = SimulatedApp.catalogYAML.replacing(
    "  - id: com.example.scribe.pro.monthly\n    type: auto_renewable\n",
    with: """
        - id: com.example.scribe.pro.monthly
          type: auto_renewable
          offers:
            - {kind: introductory, for: [new, lapsed], overrides: [allow, deny]}
            - {kind: promotional, id: back, for: [lapsed], times: unlimited}
            - {kind: promotional, id: stay, for: [active, cancelled]}

      """)

  /// A monotonic clock that a test moves.
  private final class Uptime: Sendable {
    private let time = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000))

    var now: NIODeadline { time.withLock { $0 } }

    func advance(by amount: TimeAmount) { time.withLock { $0 = $0 + amount } }
  }

  private func run(
    access: BenchAccess? = nil, limits: OfferLimits = OfferLimits(), uptime: Uptime = Uptime(),
    _ body: (ServiceBench) async throws -> Void
  ) async throws {
    let key = try AppStoreServerKey(
      issuerID: Self.issuerID, keyID: Self.keyID, bundleIDs: [Self.scope.bundleID],
      privateKeyPEM: Self.key.get().privateKeyPEM())
    let client = AppStoreServerClient(keys: try AppStoreServerKeys([key]))
    let result: Result<Void, any Error>
    do {
      try await ServiceBench.run(
        access: access,
        reach: { $0 == Self.scope.bundleID ? [.production, .sandbox] : [] },
        offerLimiter: OfferLimiter(limits, uptime: { uptime.now }),
        signOffer: { statement, now throws(OfferSigningFault) in
          try client.sign(statement, at: now)
        }
      ) { bench async throws in
        try bench.setCatalog(Self.catalog)
        try #require(try await bench.client.reloadCatalog().lastAttempt?.isValid == true)
        try await body(bench)
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await client.shutDown(deadline: .now())
    try result.get()
  }

  private func promotional(
    _ customer: CustomerSelector, _ offer: OfferID, format: OfferSignatureFormat = .v2,
    in scope: AppScope = scope, product: ProductID = product,
    token: AppAccountToken? = nil, transaction: TransactionID? = nil
  ) -> SignPromotionalOfferRequest {
    SignPromotionalOfferRequest(
      customer: customer, scope: scope, productID: product, offerID: offer, format: format,
      appAccountToken: token, transactionID: transaction, onBehalfOf: "ada", reason: "a win-back")
  }

  private func introductory(
    _ customer: CustomerSelector, _ decision: IntroductoryDecision = .asJudged,
    transaction: TransactionID? = nil
  ) -> SignIntroductoryOfferEligibilityRequest {
    SignIntroductoryOfferEligibilityRequest(
      customer: customer, scope: Self.scope, productID: Self.product, decision: decision,
      transactionID: transaction)
  }

  private func failure(_ body: () async throws -> Void) async -> RPCClientError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? RPCClientError
    }
  }

  private func verify(_ cases: [OfferVerifier.Case]) throws {
    guard OpenSSL.isInstalled else { return }
    let outcome = try OfferVerifier.verify(
      cases, privateKeyPEM: String(decoding: try Self.key.get().privateKeyPEM(), as: UTF8.self),
      in: try TestSupport.TemporaryFolder())
    #expect(outcome.output == "\(cases.count) offers verified\n")
  }

  private func verifierCase(
    _ form: String, _ response: SignOfferResponse, offer: String? = nil, token: String? = nil,
    transaction: String? = nil, allowed: Bool? = nil
  ) -> OfferVerifier.Case {
    let now = ServiceBench.now.rawValue
    return OfferVerifier.Case(
      form, bundleID: Self.scope.bundleID.rawValue, keyID: Self.keyID, issuerID: Self.issuerID,
      productID: Self.product.rawValue, offerID: offer, appAccountToken: token,
      transactionID: transaction, allowed: allowed, signed: now...now,
      OfferVerifier.Answer(
        signature: response.signature, keyID: response.keyID, nonce: response.nonce,
        timestamp: response.timestamp.rawValue, expiresAt: response.expiresAt?.rawValue,
        allowsIntroductoryOffer: response.allowsIntroductoryOffer))
  }

  private func audited(_ bench: ServiceBench) async throws -> [AuditedCallEntry] {
    var entries: [AuditedCallEntry] = []
    for try await entry in bench.client.auditEntries(ListAuditEntriesRequest())
    where entry.method.hasPrefix("Sign") {
      entries.append(entry)
    }
    return entries.sorted { $0.position < $1.position }
  }

  // MARK: Lists

  @Test("All offers of an app are listed, with the verdict on each")
  func list() async throws {
    try await run { bench async throws in
      let expired = try await bench.submit(.expired)
      let list = try await bench.client.offerEligibility(
        GetOfferEligibilityRequest(customer: .account(expired), scope: Self.scope))
      #expect(list.evaluatedAt == ServiceBench.now)
      #expect(list.revision > 0)
      #expect(
        list.offers == [
          OfferEligibilityEntry(
            productID: Self.product, kind: .introductory, isEligible: true, rule: "R84",
            sentence: "the customer may have the offer", situation: .lapsed, uses: 0),
          OfferEligibilityEntry(
            productID: Self.product, offerID: "back", kind: .promotional, isEligible: true,
            rule: "R82", sentence: "the customer may have the offer", situation: .lapsed, uses: 0),
          OfferEligibilityEntry(
            productID: Self.product, offerID: "stay", kind: .promotional, refusal: .situation,
            rule: "R82",
            sentence: "the offer is for customers who are active or cancelled, and the customer is "
              + "lapsed", situation: .lapsed, uses: 0),
        ])
      let unknown = try await bench.client.offerEligibility(
        GetOfferEligibilityRequest(
          customer: .account("nobody"), scope: Self.scope, productID: Self.product))
      #expect(unknown.revision == 0)
      #expect(unknown.offers.map(\.refusal) == [nil, .neverSubscribed, .neverSubscribed])
      let other = try await bench.client.offerEligibility(
        GetOfferEligibilityRequest(
          customer: .account(expired), scope: Self.scope,
          productID: SimulatedApp.proYearly.id))
      #expect(other.offers.isEmpty)
      // The environment of the request decides.
      let sandbox = try await bench.client.offerEligibility(
        GetOfferEligibilityRequest(
          customer: .account(expired),
          scope: AppScope(bundleID: Self.scope.bundleID, environment: .sandbox)))
      #expect(sandbox.offers.map(\.situation) == [.new, .new, .new])
    }
  }

  // MARK: Signatures

  @Test("Signatures of both forms verify, name the customer, and are audited")
  func signatures() async throws {
    try await run { bench async throws in
      let expired = try await bench.submit(.expired)
      guard case .state(let state) = try await bench.state(of: .account(expired)) else {
        throw CancellationError()
      }
      let transaction = try #require(state.groups.first?.standing.transactionID.rawValue)
      let v2 = try await bench.client.signPromotionalOffer(
        promotional(.account(expired), "back", transaction: "not used"))
      #expect(v2.expiresAt == nil)
      #expect(v2.verdict.isEligible)
      #expect(!v2.allowsIntroductoryOffer)
      let token = "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4"
      let v1 = try await bench.client.signPromotionalOffer(
        promotional(.account(expired), "back", format: .v1, token: AppAccountToken(token)))
      #expect(v1.timestamp == ServiceBench.now)
      #expect(v1.expiresAt == ServiceBench.now.advanced(by: 86_400_000))
      let bare = try await bench.client.signPromotionalOffer(
        promotional(.account(expired), "back", format: .v1))
      let intro = try await bench.client.signIntroductoryOfferEligibility(
        introductory(.account(expired)))
      #expect(intro.allowsIntroductoryOffer)
      let denied = try await bench.client.signIntroductoryOfferEligibility(
        introductory(.account(expired), .deny))
      #expect(!denied.allowsIntroductoryOffer)
      try verify([
        verifierCase("v2", v2, offer: "back", transaction: transaction),
        verifierCase("v1", v1, offer: "back", token: token),
        verifierCase("v1", bare, offer: "back"),
        verifierCase("introductory", intro, transaction: transaction, allowed: true),
        verifierCase("introductory", denied, transaction: transaction, allowed: false),
      ])
      let entries = try await audited(bench)
      let product = Self.product.rawValue
      #expect(
        entries.map(\.subject) == [
          "\(product) back \(v2.nonce)", "\(product) back \(v1.nonce)",
          "\(product) back \(bare.nonce)", "\(product) allowed \(intro.nonce)",
          "\(product) denied \(denied.nonce)",
        ])
      #expect(entries.allSatisfy { $0.outcome == "disclosed" && $0.account != nil })
      #expect(entries[0].reason == "a win-back")
      #expect(entries[0].onBehalfOf == "ada")
      let texts = entries.map { "\($0)" }.joined()
      for response in [v2, v1, bare, intro, denied] {
        #expect(!texts.contains(response.signature))
      }
      #expect(!texts.contains(transaction))
      let counters = try await bench.client.statistics().counters
      func count(_ name: String) -> Int64? { counters.first { $0.name == name }?.value }
      #expect(count("offers.signed.promotional_v1") == 2)
      #expect(count("offers.signed.promotional_v2") == 1)
      #expect(count("offers.signed.introductory_allowed") == 1)
      #expect(count("offers.signed.introductory_denied") == 1)
    }
  }

  @Test("A customer of whom nothing is known is named by the request")
  func newCustomer() async throws {
    try await run { bench async throws in
      let missing = await failure {
        _ = try await bench.client.signIntroductoryOfferEligibility(
          introductory(.account("nobody")))
      }
      #expect(missing?.code == .status(.failedPrecondition))
      #expect(missing?.description.contains("no transaction of the customer is known") == true)
      let named = try await bench.client.signIntroductoryOfferEligibility(
        introductory(.account("nobody"), transaction: "704000000000000001"))
      let selected = try await bench.client.signIntroductoryOfferEligibility(
        introductory(.appTransaction("704000000000000002"), transaction: "7"))
      try verify([
        verifierCase("introductory", named, transaction: "704000000000000001", allowed: true),
        verifierCase("introductory", selected, transaction: "704000000000000002", allowed: true),
      ])
    }
  }

  // MARK: Refusals

  @Test("A refused offer has the reason and its rule, and no signature is made (R82, R83, R84)")
  func refused() async throws {
    try await run { bench async throws in
      let active = try await bench.submit(.renewals)
      let trial = try await bench.submit(.freeTrial, seed: 3)
      for (customer, offer, refusal, rule) in [
        (active, "back", "SITUATION", "R82"), ("nobody", "stay", "NEVER_SUBSCRIBED", "R82"),
      ] as [(AccountID, OfferID, String, String)] {
        let error = await failure {
          _ = try await bench.client.signPromotionalOffer(promotional(.account(customer), offer))
        }
        #expect(error?.code == .status(.failedPrecondition))
        #expect(error?.errorInfo?.reason == "OFFER_REFUSED")
        #expect(error?.errorInfo?.metadata == ["refusal": refusal, "rule": rule])
        #expect(error?.description.contains("(\(rule))") == true)
      }
      // A verdict against the customer is signed, as the App Store would otherwise give the offer.
      let judged = try await bench.client.signIntroductoryOfferEligibility(
        introductory(.account(trial)))
      #expect(!judged.allowsIntroductoryOffer)
      #expect(judged.verdict.refusal == .subscribed)
      let subscribed = await failure {
        _ = try await bench.client.signIntroductoryOfferEligibility(
          introductory(.account(active), .allow))
      }
      #expect(subscribed?.errorInfo?.metadata == ["refusal": "SUBSCRIBED", "rule": "R84"])
      #expect(try await audited(bench).count == 1)
      let counters = try await bench.client.statistics().counters
      func count(_ name: String) -> Int64? { counters.first { $0.name == name }?.value }
      #expect(count("offers.refused.SITUATION") == 1)
      #expect(count("offers.refused.NEVER_SUBSCRIBED") == 1)
      #expect(count("offers.refused.SUBSCRIBED") == 1)
    }
  }

  @Test("What the catalog does not let callers override stays as it was judged (R84)")
  func overrides() async throws {
    try await run { bench async throws in
      try bench.setCatalog(Self.catalog.replacing("[allow, deny]", with: "[deny]"))
      _ = try await bench.client.reloadCatalog()
      let refunded = try await bench.submit(.refunded)
      let error = await failure {
        _ = try await bench.client.signIntroductoryOfferEligibility(
          introductory(.account(refunded), .allow))
      }
      #expect(error?.code == .status(.failedPrecondition))
      #expect(error?.errorInfo?.reason == "OFFER_OVERRIDE_REFUSED")
      #expect(error?.errorInfo?.metadata == ["refusal": "SITUATION", "rule": "R84"])
      // What agrees with the verdict is no override.
      let denied = try await bench.client.signIntroductoryOfferEligibility(
        introductory(.account(refunded), .deny))
      #expect(!denied.allowsIntroductoryOffer)
      try bench.setCatalog(Self.catalog.replacing("[allow, deny]", with: "[allow]"))
      _ = try await bench.client.reloadCatalog()
      let allowed = try await bench.client.signIntroductoryOfferEligibility(
        introductory(.account(refunded), .allow))
      #expect(allowed.allowsIntroductoryOffer)
      #expect(allowed.verdict.refusal == .situation)
    }
  }

  @Test(
    "An offer that the catalog does not have is NOT_FOUND, and fields that exclude each other are")
  func unknown() async throws {
    try await run { bench async throws in
      let expired = CustomerSelector.account(try await bench.submit(.expired))
      let requests = [
        promotional(expired, "Back"), promotional(expired, "back", product: "com.example.none"),
        promotional(expired, "back", product: SimulatedApp.proYearly.id),
        promotional(expired, "back", product: SimulatedApp.season.id),
      ]
      for request in requests {
        let error = await failure { _ = try await bench.client.signPromotionalOffer(request) }
        #expect(error?.code == .status(.notFound))
      }
      let token = await failure {
        _ = try await bench.client.signPromotionalOffer(
          promotional(expired, "back", token: "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4"))
      }
      #expect(token?.code == .status(.invalidArgument))
      #expect(token?.fieldViolations.map(\.field) == ["app_account_token"])
      let app = await failure {
        _ = try await bench.client.offerEligibility(
          GetOfferEligibilityRequest(
            customer: expired,
            scope: AppScope(bundleID: "com.example.other", environment: .production)))
      }
      #expect(app?.code == .status(.invalidArgument))
    }
  }

  @Test("A server without a key of the app signs nothing, and says what is missing")
  func noKey() async throws {
    try await ServiceBench.run { bench async throws in
      try bench.setCatalog(Self.catalog)
      _ = try await bench.client.reloadCatalog()
      let expired = CustomerSelector.account(try await bench.submit(.expired))
      let error = await failure {
        _ = try await bench.client.signPromotionalOffer(promotional(expired, "back"))
      }
      #expect(error?.code == .status(.failedPrecondition))
      #expect(
        error?.description.contains(
          "this server has no key of the App Store Server API for com.example.scribe") == true)
      #expect(try await audited(bench).isEmpty)
      // Eligibility needs no key.
      let list = try await bench.client.offerEligibility(
        GetOfferEligibilityRequest(customer: expired, scope: Self.scope))
      #expect(list.offers.count == 3)
    }
  }

  // MARK: Limits and access

  @Test("Signatures of a customer are limited, by any selector, and others are not affected")
  func customerLimit() async throws {
    var limits = OfferLimits()
    limits.customerBurst = 2
    limits.customerInterval = .seconds(30)
    let uptime = Uptime()
    try await run(limits: limits, uptime: uptime) { bench async throws in
      let expired = try await bench.submit(.expired)
      guard case .state(let state) = try await bench.state(of: .account(expired)) else {
        throw CancellationError()
      }
      let standing = try #require(state.groups.first?.standing)
      let selectors: [CustomerSelector] = [
        .account(expired), .transaction(standing.transactionID),
        .originalTransaction(standing.originalTransactionID),
      ]
      for selector in selectors.prefix(2) {
        _ = try await bench.client.signPromotionalOffer(promotional(selector, "back"))
      }
      let error = await failure {
        _ = try await bench.client.signPromotionalOffer(promotional(selectors[2], "back"))
      }
      #expect(error?.code == .status(.resourceExhausted))
      #expect(error?.errorInfo?.reason == "OFFER_LIMIT")
      #expect(error?.retryDelay == .seconds(30))
      // A refused offer takes no token, and another customer has its own.
      let other = await failure {
        _ = try await bench.client.signPromotionalOffer(promotional(selectors[0], "stay"))
      }
      #expect(other?.errorInfo?.reason == "OFFER_REFUSED")
      _ = try await bench.client.signIntroductoryOfferEligibility(
        introductory(.appTransaction("704000000000000001")))
      #expect(try await audited(bench).count == 3)
      uptime.advance(by: .seconds(30))
      _ = try await bench.client.signPromotionalOffer(promotional(selectors[2], "back"))
      let counters = try await bench.client.statistics().counters
      #expect(counters.first { $0.name == "offers.throttled" }?.value == 1)
    }
  }

  @Test("Signatures of an app are limited, over all customers")
  func appLimit() async throws {
    var limits = OfferLimits()
    limits.appBurst = 3
    limits.appInterval = .seconds(2)
    try await run(limits: limits) { bench async throws in
      func sign(_ number: Int) async throws {
        _ = try await bench.client.signIntroductoryOfferEligibility(
          introductory(.appTransaction(AppTransactionID("70400000000000000\(number)"))))
      }
      for number in 1...3 { try await sign(number) }
      let error = await failure { try await sign(4) }
      #expect(error?.code == .status(.resourceExhausted))
      #expect(error?.retryDelay == .seconds(2))
    }
  }

  @Test("A caller needs the permission, and the app")
  func access() async throws {
    let reader = BenchAccess.Member(name: "reader", fields: "roles: [reader]")
    let offers = BenchAccess.Member(
      name: "shop",
      fields: "permissions: [offers]\napps: {\(Self.scope.bundleID): [Production]}")
    try await run(access: try BenchAccess([reader, offers])) { bench async throws in
      func client(_ member: BenchAccess.Member) -> EntitlementClient {
        EntitlementClient(
          bench.addresses[0],
          configuration: EntitlementClientConfiguration(metadata: member.metadata, retries: .off))
      }
      let (shop, other) = (client(offers), client(reader))
      let expired = CustomerSelector.account(try await bench.submit(.expired))
      _ = try await shop.signPromotionalOffer(promotional(expired, "back"))
      let sandbox = AppScope(bundleID: Self.scope.bundleID, environment: .sandbox)
      let elsewhere = await failure {
        _ = try await shop.signPromotionalOffer(promotional(expired, "back", in: sandbox))
      }
      #expect(elsewhere?.code == .status(.permissionDenied))
      let refused = await failure {
        _ = try await other.signPromotionalOffer(promotional(expired, "back"))
      }
      #expect(refused?.code == .status(.permissionDenied))
      let list = await failure {
        _ = try await other.offerEligibility(
          GetOfferEligibilityRequest(customer: expired, scope: Self.scope))
      }
      #expect(list?.code == .status(.permissionDenied))
      #expect(try await audited(bench).map(\.author) == ["shop"])
      await shop.close()
      await other.close()
    }
  }

  @Test("A caller without Production signs nothing, as a signature names no environment")
  func sandboxOnly() async throws {
    let tester = BenchAccess.Member(
      name: "tester",
      fields: "permissions: [offers]\napps: {\(Self.scope.bundleID): [Sandbox]}")
    try await run(access: try BenchAccess([tester])) { bench async throws in
      let client = EntitlementClient(
        bench.addresses[0],
        configuration: EntitlementClientConfiguration(metadata: tester.metadata, retries: .off))
      let expired = CustomerSelector.account(try await bench.submit(.expired))
      let sandbox = AppScope(bundleID: Self.scope.bundleID, environment: .sandbox)
      let list = try await client.offerEligibility(
        GetOfferEligibilityRequest(customer: expired, scope: sandbox))
      #expect(list.offers.count == 3)
      let offer = await failure {
        _ = try await client.signPromotionalOffer(promotional(expired, "back", in: sandbox))
      }
      #expect(offer?.code == .status(.permissionDenied))
      #expect(offer?.errorInfo?.metadata["environment"] == "Production")
      let introduced = await failure {
        _ = try await client.signIntroductoryOfferEligibility(
          SignIntroductoryOfferEligibilityRequest(
            customer: expired, scope: sandbox, productID: Self.product, decision: .asJudged))
      }
      #expect(introduced?.code == .status(.permissionDenied))
      #expect(try await audited(bench).isEmpty)
      await client.close()
    }
  }

  @Test("A transaction of another customer names nobody else")
  func transactionOfAnother() async throws {
    try await run { bench async throws in
      let expired = try await bench.submit(.expired)
      guard case .state(let state) = try await bench.state(of: .account(expired)) else {
        throw CancellationError()
      }
      let standing = try #require(state.groups.first?.standing)
      for id in [
        standing.transactionID.rawValue, standing.originalTransactionID.rawValue,
      ] {
        let error = await failure {
          _ = try await bench.client.signIntroductoryOfferEligibility(
            introductory(.account("nobody"), transaction: TransactionID(id)))
        }
        #expect(error?.code == .status(.invalidArgument))
        #expect(error?.fieldViolations.map(\.field) == ["transaction_id"])
      }
      #expect(try await audited(bench).isEmpty)
    }
  }

  @Test("Nothing is signed for a purchase by family sharing (R82)")
  func familyShared() async throws {
    try await run { bench async throws in
      let member = try await bench.submit(.familySharing)
      let list = try await bench.client.offerEligibility(
        GetOfferEligibilityRequest(customer: .account(member), scope: Self.scope))
      #expect(list.offers.map(\.refusal) == [.familyShared, .familyShared, .familyShared])
      let error = await failure {
        _ = try await bench.client.signPromotionalOffer(promotional(.account(member), "stay"))
      }
      #expect(error?.errorInfo?.metadata == ["refusal": "FAMILY_SHARED", "rule": "R82"])
      let introduced = await failure {
        _ = try await bench.client.signIntroductoryOfferEligibility(
          introductory(.account(member), .allow))
      }
      #expect(introduced?.errorInfo?.metadata == ["refusal": "FAMILY_SHARED", "rule": "R82"])
      #expect(try await audited(bench).isEmpty)
    }
  }
}
