import AppStorePayloads
import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("Notifications and the payloads inside them")
struct NotificationTests {
  let workshop = Workshop.shared
  let verifier = Workshop.shared.verifier

  private func quoted(_ jws: [UInt8]) -> String {
    "\"" + String(decoding: jws, as: UTF8.self) + "\""
  }

  private func verified(_ payload: Payload) throws -> VerifiedNotification {
    let verified = try verifier.verify(
      try workshop.sign(payload), policy: .scribe, now: Workshop.signedDate)
    guard case .notification(let notification) = verified.content else {
      throw Refusal(.malformed, "not a notification")
    }
    return notification
  }

  @Test func `both inner payloads become facts of the notification's app`() throws {
    let transaction = try workshop.sign(.transaction())
    let renewalInfo = try workshop.sign(.renewalInfo())
    let data = Payload.notificationData().with("signedTransactionInfo", quoted(transaction))
      .with("signedRenewalInfo", quoted(renewalInfo))
    let notification = try verified(
      Payload.notification(data: data).with("subtype", #""BILLING_RECOVERY""#))
    let scope = AppScope(bundleID: "com.example.scribe", environment: .sandbox)
    #expect(notification.record.scope == scope)
    #expect(notification.record.type == "DID_RENEW")
    #expect(notification.record.subtype == "BILLING_RECOVERY")
    #expect(notification.record.status == 1)
    #expect(notification.record.signedDate == Workshop.signedDate)
    #expect(notification.facts.map(\.fact.kind) == [.transaction, .renewalInfo])
    #expect(notification.facts.allSatisfy { $0.fact.scope == scope })
    #expect(notification.transaction?.signed.payload == Payload.transaction().bytes)
    #expect(notification.renewalInfo?.signed.payload == Payload.renewalInfo().bytes)
  }

  @Test func `an app transaction inside appData becomes a fact`() throws {
    let inner = try workshop.sign(.appTransaction())
    let appData = Payload.notificationData().with("signedAppTransactionInfo", quoted(inner))
    let notification = try verified(
      Payload.notification(data: nil).with("appData", appData.json)
        .with("notificationType", #""RESCIND_CONSENT""#))
    #expect(notification.appTransaction?.fact.kind == .appTransaction)
    #expect(notification.facts.count == 1)
  }

  @Test func `a summary and an external purchase token carry no facts`() throws {
    let summary = Payload.notificationData().with("requestIdentifier", #""r""#)
    let first = try verified(
      Payload.notification(data: nil).with("summary", summary.json))
    #expect(first.facts.isEmpty)
    #expect(first.record.status == nil)
    let token = #"{"externalPurchaseId":"SANDBOX_1","bundleId":"com.example.scribe"}"#
    let second = try verified(
      Payload.notification(data: nil).with("externalPurchaseToken", token))
    #expect(second.record.scope?.environment == .sandbox)
    // Without the prefix the token is Production's, and that is not accepted here.
    let production =
      #"{"externalPurchaseId":"1","bundleId":"com.example.scribe","appAppleId":1234567890}"#
    let jws = try workshop.sign(
      Payload.notification(data: nil).with("externalPurchaseToken", production))
    #expect(verdict(verifier, jws) == .wrongEnvironment)
  }

  @Test func `R10: an unknown type, subtype and status are kept as they came`() throws {
    let notification = try verified(
      Payload.notification(data: Payload.notificationData().with("status", "99"))
        .with("notificationType", #""NEW_TYPE""#).with("subtype", #""NEW_SUBTYPE""#))
    #expect(notification.record.type == "NEW_TYPE")
    #expect(notification.record.subtype == "NEW_SUBTYPE")
    #expect(notification.record.status == 99)
  }

  @Test func `R10: a notification about something new is recorded without facts`() throws {
    let inner = try workshop.sign(.transaction())
    let content = Payload.notificationData().with("signedTransactionInfo", quoted(inner))
    let payload = Payload.notification(data: nil).with("notificationType", #""NEW_THING""#)
      .with("newThing", content.json).with("data", "null").with("other", #"{"bundleId":"x"}"#)
      .with("list", "[\(content.json)]")
    let notification = try verified(payload)
    #expect(notification.record.type == "NEW_THING")
    #expect(
      notification.record.scope
        == AppScope(bundleID: "com.example.scribe", environment: .sandbox))
    #expect(notification.record.status == nil)
    #expect(notification.facts.isEmpty)
    // The policy applies to it as to any other.
    let table: [(String, String, Verdict)] = [
      ("bundleId", #""com.example.other""#, .wrongApp),
      ("environment", #""LocalTesting""#, .wrongEnvironment),
      ("environment", #""Moon""#, .wrongEnvironment), ("bundleId", "1", .malformed),
      ("environment", "null", .malformed),
    ]
    for (field, json, expected) in table {
      let changed = payload.with("newThing", content.with(field, json).json)
      #expect(verdict(verifier, try workshop.sign(changed)) == expected)
    }
    let production = Payload.notificationData().with("environment", #""Production""#)
    let policy = VerificationPolicy(apps: [
      VerificationPolicy.App(
        bundleID: "com.example.scribe", appAppleID: 7, environments: [.production])
    ])
    for (appAppleID, expected) in [(nil, .wrongApp), ("8", .wrongApp), ("7", .ok)]
      as [(String?, Verdict)]
    {
      let content = production.with("appAppleId", appAppleID).json
      let jws = try workshop.sign(payload.with("newThing", content))
      #expect(verdict(verifier, jws, policy: policy) == expected)
    }
    // Two such members are ambiguous; with a known one they are ignored.
    let two = payload.with("newerThing", content.json)
    #expect(verdict(verifier, try workshop.sign(two)) == .malformed)
    let known = two.with("data", Payload.notificationData().json)
    #expect(verdict(verifier, try workshop.sign(known)) == .ok)
  }

  @Test func `case 25: a TEST notification is recorded, and brings nothing`() throws {
    let notification = try verified(
      Payload.notification(data: Payload.notificationData().with("status", nil))
        .with("notificationType", #""TEST""#))
    #expect(notification.record.type == "TEST" && notification.record.subtype == nil)
    #expect(notification.record.status == nil && notification.facts.isEmpty)
    #expect(notification.record.unknownValues.isEmpty)
  }

  @Test func `case 26: unknown types and values are accepted, named, and grant nothing`() throws {
    let inner = Payload.transaction().with("type", #""Timed Pass""#)
      .with("inAppOwnershipType", #""BORROWED""#).with("offerType", "9")
    let renewalInfo = Payload.renewalInfo().with("autoRenewStatus", "2")
      .with("expirationIntent", "77")
    let data = Payload.notificationData().with("status", "99")
      .with("signedTransactionInfo", quoted(try workshop.sign(inner)))
      .with("signedRenewalInfo", quoted(try workshop.sign(renewalInfo)))
    let notification = try verified(
      Payload.notification(data: data).with("notificationType", #""NEW_TYPE""#)
        .with("subtype", #""NEW_SUBTYPE""#))
    #expect(
      notification.record.unknownValues.map(\.field) == [.notificationType, .subtype, .status])
    #expect(
      notification.facts.map { $0.fact.unknownValues.map(\.field) } == [
        [.type, .inAppOwnershipType, .offerType], [.expirationIntent, .autoRenewStatus],
      ])
    let record = CustomerRecord(
      scope: try #require(notification.record.scope), facts: notification.facts.map(\.fact))
    let catalog = Catalog(products: [
      CatalogProduct(
        id: "com.example.scribe.pro.monthly", kind: .autoRenewable, entitlements: ["pro"])
    ])
    let state = Evaluation.state(of: record, catalog: catalog, at: Workshop.signedDate)
    #expect(state.coreState == .inactive && state.entitlements.isEmpty)
  }

  @Test func `the reason of a consumption request is part of its event`() throws {
    let verified = try verifier.verify(
      try workshop.sign(
        Payload.notification(
          data: Payload.notificationData().with("consumptionRequestReason", #""LEGAL""#)
        ).with("notificationType", #""CONSUMPTION_REQUEST""#)),
      policy: .scribe, now: Workshop.signedDate)
    guard case .notification(let notification) = verified.content else {
      Issue.record("not a notification")
      return
    }
    let events = NotificationReview.events(
      of: SignedNotification(
        record: notification.record, signed: verified.signed,
        consumptionRequestReason: notification.consumptionRequestReason),
      bringing: [], facts: [], catalog: Catalog())
    #expect(events.map(\.detail) == ["LEGAL", "signedTransactionInfo"])
    #expect(
      events.first?.deadline
        == Workshop.signedDate.advanced(by: NotificationReview.consumptionDeadline))
    // Another JSON type than Apple documents is in doubt as everywhere.
    let number = Payload.notificationData().with("consumptionRequestReason", "1")
    #expect(verdict(verifier, try workshop.sign(.notification(data: number))) == .malformed)
  }

  @Test func `none or two of the four contents are malformed`() throws {
    let content = Payload.notificationData().json
    for names in [
      [], ["data", "summary"], ["appData", "data"], ["externalPurchaseToken", "data"],
    ] {
      var payload = Payload.notification(data: nil)
      for name in names { payload = payload.with(name, content) }
      #expect(verdict(verifier, try workshop.sign(payload)) == .malformed)
    }
    // A null is as good as absent.
    let payload = Payload.notification(data: .notificationData()).with("summary", "null")
    #expect(verdict(verifier, try workshop.sign(payload)) == .ok)
  }

  @Test(arguments: ["notificationUUID"])
  func `a notification without its UUID is malformed`(field: String) throws {
    let payload = Payload.notification(data: .notificationData()).with(field, nil)
    #expect(verdict(verifier, try workshop.sign(payload)) == .malformed)
  }

  @Test func `the verdict is that of the inner payload, and the detail names its field`() throws {
    let twin = try Workshop.twin.sign(.transaction())
    let altered = withAlteredSignature(try workshop.sign(.transaction()))
    let wrongKey = try workshop.sign(
      header: Header(x5c: workshop.chain), key: Workshop.twin.authority.leaf.key)
    let table: [(String, Verdict)] = [
      (#""""#, .malformed), (#""a.b.c""#, .malformed), (quoted(twin), .untrustedChain),
      (quoted(wrongKey), .invalidSignature), (quoted(altered), .invalidSignature),
      (quoted(try workshop.sign(.renewalInfo())), .malformed),
      (
        quoted(try workshop.sign(Payload.transaction().with("bundleId", #""com.example.other""#))),
        .wrongApp
      ),
      (
        quoted(try workshop.sign(Payload.transaction().with("environment", #""Production""#))),
        .wrongEnvironment
      ),
      (
        quoted(try workshop.sign(Payload.transaction().with("environment", nil))),
        .wrongEnvironment
      ),
      (
        quoted(
          try workshop.sign(Payload.transaction().with("signedDate", "4102444800000"))),
        .certificateExpired
      ),
    ]
    for (inner, expected) in table {
      let data = Payload.notificationData().with("signedTransactionInfo", inner)
      let jws = try workshop.sign(.notification(data: data))
      let refusal = #expect(throws: Refusal.self) {
        try verifier.verify(jws, policy: .scribe, now: Workshop.signedDate)
      }
      #expect(refusal?.verdict == expected)
      #expect(refusal?.detail.hasPrefix("signedTransactionInfo: ") == true)
    }
  }

  @Test func `inner payloads of another accepted app or environment do not agree`() throws {
    let policy = VerificationPolicy(apps: [
      VerificationPolicy.App(
        bundleID: "com.example.scribe", environments: [.sandbox, .production]),
      VerificationPolicy.App(bundleID: "com.example.other", environments: [.sandbox]),
    ])
    let table: [(Payload, String, Verdict)] = [
      (
        Payload.transaction().with("bundleId", #""com.example.other""#), "signedTransactionInfo",
        .wrongApp
      ),
      (
        Payload.transaction().with("environment", #""Production""#), "signedTransactionInfo",
        .wrongEnvironment
      ),
      (
        Payload.renewalInfo().with("environment", #""Production""#), "signedRenewalInfo",
        .wrongEnvironment
      ),
    ]
    for (inner, field, expected) in table {
      let jws = try workshop.sign(inner)
      #expect(verdict(verifier, jws, policy: policy) == .ok)
      let data = Payload.notificationData().with(field, quoted(jws))
      let outer = try workshop.sign(.notification(data: data))
      #expect(verdict(verifier, outer, policy: policy) == expected)
    }
  }

  @Test func `an inner renewal info need not have what only a renewal info has`() throws {
    let bare = Payload.renewalInfo().with("autoRenewStatus", nil).with("autoRenewProductId", nil)
    let data = Payload.notificationData()
      .with("signedRenewalInfo", quoted(try workshop.sign(bare)))
    let notification = try verified(.notification(data: data))
    #expect(notification.renewalInfo?.fact.kind == .renewalInfo)
  }

  @Test func `a notification inside a notification is malformed`() throws {
    let inner = try workshop.sign(.notification(data: .notificationData()))
    let data = Payload.notificationData().with("signedTransactionInfo", quoted(inner))
    #expect(verdict(verifier, try workshop.sign(.notification(data: data))) == .malformed)
  }

  @Test func `a Sandbox notification may lack its app Apple id, one of Production may not`() throws
  {
    let policy = VerificationPolicy(apps: [
      VerificationPolicy.App(
        bundleID: "com.example.scribe", appAppleID: 7, environments: [.sandbox, .production])
    ])
    let sandbox = Payload.notificationData()
    let production = sandbox.with("environment", #""Production""#)
    let table: [(Payload, Verdict)] = [
      (sandbox, .ok), (production, .wrongApp), (production.with("appAppleId", "7"), .ok),
      (production.with("appAppleId", "8"), .wrongApp),
    ]
    for (data, expected) in table {
      let jws = try workshop.sign(.notification(data: data))
      #expect(verdict(verifier, jws, policy: policy) == expected)
    }
  }

  @Test("R67: the digest is that of the payload as it was signed, whatever its signature")
  func digest() throws {
    let (first, again) = try (verifiedRenewalInfo(), verifiedRenewalInfo())
    #expect(first.signed.payload == again.signed.payload)
    #expect(first.signed.proof != again.signed.proof)
    let digests = [first, again].map { verified -> PayloadDigest? in
      guard case .renewalInfo(let unbound) = verified.content else { return nil }
      return unbound.bound(to: "com.example.scribe").digest
    }
    let expected = PayloadDigest(sha256: try SHA256.digest(of: first.signed.payload).words)
    #expect(digests == [expected, expected])
  }

  private func verifiedRenewalInfo() throws -> VerifiedPayload {
    try verifier.verify(
      try workshop.sign(.renewalInfo()), policy: .scribe, now: Workshop.signedDate)
  }

  @Test func `a renewal info alone is bound to the app of its chain later`() throws {
    let verified = try verifier.verify(
      try workshop.sign(.renewalInfo()), policy: .scribe, now: Workshop.signedDate)
    guard case .renewalInfo(let unbound) = verified.content else {
      Issue.record("not a renewal info")
      return
    }
    #expect(unbound.originalTransactionID == "2000000123456789")
    #expect(unbound.environment == .sandbox)
    let fact = unbound.bound(to: "com.example.scribe")
    #expect(fact.scope == AppScope(bundleID: "com.example.scribe", environment: .sandbox))
    #expect(
      Fact.renewalInfo(fact)
        == (try PayloadDecoder.fact(
          kind: .renewalInfo, payload: verified.signed.payload, digest: fact.digest,
          bundleID: "com.example.scribe")))
  }
}
