import EntitlementDomain
import EntitlementService
import EntitlementStore
import Foundation
import SQLiteStore
import StoreSimulator
import Synchronization
import Testing
import Verification

@Suite("Submitting what Apple signed")
struct SubmissionServiceTests {
  private typealias Bench = ServiceBench

  private static let scope = ServiceBench.scope

  /// The same payload with another signature: well-formed and forged.
  private func forged(_ jws: String, like other: String) -> String {
    let parts = jws.split(separator: ".")
    let signature = other.split(separator: ".")[2]
    return "\(parts[0]).\(parts[1]).\(signature)"
  }

  @Test("Accepted payloads are committed, and repeating them changes nothing (R48, R50)")
  func idempotent() async throws {
    let bench = try Bench()
    let facts = try bench.signed(.renewals).flatMap(\.facts)
    let first = try await bench.submit(facts, account: "anna")
    #expect(first.items.count == facts.count)
    #expect(first.items.allSatisfy { $0.verdict == .ok })
    #expect(first.customers.map(\.subject) == [.account(Self.scope, "anna")])
    #expect(bench.changed.all == [.account(Self.scope, "anna")])
    let again = try await bench.submit(facts.shuffled(), account: "anna")
    #expect(
      again.items.allSatisfy { $0.disposition == .duplicate || $0.disposition == .superseded })
    #expect(again.customers == first.customers)
    #expect(bench.changed.all.count == 1)
    await bench.close()
  }

  @Test("A refused payload does not affect the others, and nothing of it is stored")
  func partly() async throws {
    let bench = try Bench()
    let facts = try bench.signed(.firstPurchase).flatMap(\.facts)
    let others = try bench.signed(.firstPurchase, seed: 2).flatMap(\.facts)
    let result = try await bench.submit(
      [forged(facts[0], like: others[0]), others[0], "not.a.jws"], account: "anna")
    #expect(result.items.map(\.verdict) == [.invalidSignature, .ok, .malformed])
    #expect(result.items[1].disposition == .added)
    let known = try await bench.store.customer(.account("anna"), in: Self.scope)
    #expect(known.record.facts.count == 1)
    await bench.close()
  }

  @Test("Repeated items are verified and committed once, and each has its result")
  func repeatedItems() async throws {
    let bench = try Bench()
    let facts = try bench.signed(.firstPurchase).flatMap(\.facts)
    let bytes = [facts[0], "not.a.jws", facts[0], facts[0], "not.a.jws"].map { Array($0.utf8) }
    let submission = TransactionSubmission(signedPayloads: bytes, accountID: "anna")
    #expect(submission.signedPayloads == [bytes[0], bytes[1]])
    #expect(submission.items == [0, 1, 0, 0, 1])
    let result = try await bench.submit(
      [facts[0], "not.a.jws", facts[0], facts[0], "not.a.jws"], account: "anna")
    #expect(result.items.map(\.verdict) == [.ok, .malformed, .ok, .ok, .malformed])
    #expect(
      result.items.map(\.disposition) == [.added, nil, .duplicate, .duplicate, nil])
    #expect(result.items.map(\.link) == [.linked, nil, .unchanged, .unchanged, nil])
    #expect(result.items[2].transactionID == result.items[0].transactionID)
    #expect(result.customers.count == 1)
    await bench.close()
  }

  @Test("Purchases of two machines of developers with the same ids stay apart (R94)")
  func machines() async throws {
    let machines = try [XcodeAuthority.generate(), .generate()]
    let bench = try Bench(
      catalog: SimulatedApp.catalogYAML.replacing(
        "[Production, Sandbox]", with: "[Production, Xcode]"), machines: machines)
    let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .xcode)
    let payloads = [
      """
      {"transactionId":"0","originalTransactionId":"0","environment":"Xcode",\
      "bundleId":"\(SimulatedApp.bundleID)","productId":"com.example.scribe.basic.monthly",\
      "subscriptionGroupIdentifier":"21000001","type":"Auto-Renewable Subscription",\
      "inAppOwnershipType":"PURCHASED","purchaseDate":\(Bench.now.rawValue - 2_000).5,\
      "expiresDate":\(Bench.now.rawValue + 60_000),"signedDate":\(Bench.now.rawValue - 1_000)}
      """,
      """
      {"originalTransactionId":"0","environment":"Xcode","autoRenewStatus":1,\
      "productId":"com.example.scribe.basic.monthly",\
      "autoRenewProductId":"com.example.scribe.basic.monthly",\
      "signedDate":\(Bench.now.rawValue - 1_000)}
      """,
    ]
    let accounts: [AccountID] = ["anna", "bert"]
    for (machine, account) in zip(machines, accounts) {
      // The renewal info alone finds the app by the chain of its own machine.
      for payload in payloads {
        let jws = try machine.sign(payloadJSON: Array(payload.utf8))
        let result = try await bench.submit([jws], account: account)
        #expect(result.items.map(\.verdict) == [.ok])
        #expect(result.items.map(\.disposition) == [.added])
      }
    }
    for (machine, account) in zip(machines, accounts) {
      let state = try await bench.reader.answer(
        to: CustomerQuery(selector: .account(account), scope: scope)
      ).state
      #expect(state.entitlements.map(\.entitlementID) == ["basic"])
      let standing = try #require(state.groups.first?.standing)
      #expect(standing.willRenew == true)
      // Of the fingerprint in the form "sha256:…".
      let mark = "@" + "\(machine.fingerprint)".dropFirst(7).prefix(8)
      #expect(standing.originalTransactionID.rawValue == "0" + mark)
    }
    await bench.close()
  }

  @Test("A renewal info is bound by its transaction or the store only")
  func binding() async throws {
    let bench = try Bench()
    let event = try #require(try bench.signed(.firstPurchase).first { $0.renewalInfo != nil })
    let info = try #require(event.renewalInfo)
    let alone = try await bench.submit([info])
    #expect(alone.items.map(\.verdict) == [.wrongApp])
    #expect(alone.items[0].kind == .renewalInfo)
    // The order within a request does not matter.
    let together = try await bench.submit([info] + event.transactions)
    #expect(together.items.allSatisfy { $0.verdict == .ok })

    let other = try #require(
      try bench.signed(.firstPurchase, seed: 2).first { $0.renewalInfo != nil })
    _ = try await bench.submit(other.transactions)
    let later = try await bench.submit([try #require(other.renewalInfo)])
    #expect(later.items.map(\.disposition) == [.added])

    let third = try #require(
      try bench.signed(.firstPurchase, seed: 3).first { $0.renewalInfo != nil })
    // The bundle id of the request is no evidence.
    let named = try await bench.submit(
      [try #require(third.renewalInfo)], bundleID: SimulatedApp.bundleID)
    #expect(named.items.map(\.verdict) == [.wrongApp])
    #expect(named.customers.isEmpty)
    _ = try await bench.submit(third.transactions)
    let foreign = try await bench.submit(
      [try #require(third.renewalInfo)], bundleID: "com.example.elsewhere")
    #expect(foreign.items.map(\.verdict) == [.wrongApp])
    await bench.close()
  }

  @Test("A forged link by a renewal info of another app is refused (R8)")
  func theft() async throws {
    let bench = try Bench()
    let token = "7e3fb204-2c8a-4d5f-9b1e-000000000001"
    // Genuine, from an app of the attacker, who sets the customer's token in it.
    let planted = try bench.authority.sign(
      payloadJSON: Array(
        """
        {"originalTransactionId":"990000000000001","environment":"Production",\
        "autoRenewProductId":"com.example.elsewhere.monthly","autoRenewStatus":1,\
        "productId":"com.example.elsewhere.monthly","appAccountToken":"\(token)",\
        "signedDate":\(Bench.now.rawValue - 1_000)}
        """.utf8))
    let refused = try await bench.submit(
      [planted], bundleID: SimulatedApp.bundleID, account: "mallory")
    #expect(refused.items.map(\.verdict) == [.wrongApp])
    #expect(refused.items.map(\.kind) == [.renewalInfo])
    #expect(try await bench.store.changes(after: 0, limit: 10).isEmpty)

    let purchase = try bench.authority.sign(
      payloadJSON: Array(
        """
        {"transactionId":"1","originalTransactionId":"1","environment":"Production",\
        "bundleId":"\(SimulatedApp.bundleID)","productId":"com.example.scribe.adfree",\
        "type":"Non-Consumable","inAppOwnershipType":"PURCHASED","quantity":1,\
        "appAccountToken":"\(token)","purchaseDate":\(Bench.now.rawValue - 2_000),\
        "originalPurchaseDate":\(Bench.now.rawValue - 2_000),\
        "signedDate":\(Bench.now.rawValue - 1_000)}
        """.utf8))
    let bought = try await bench.submit([purchase])
    #expect(bought.items.map(\.verdict) == [.ok])
    #expect(bought.customers.map(\.subject) == [.unlinkedChain(Self.scope, "1")])
    await bench.close()
  }

  @Test("A cancelled submission is dropped before it reaches the store")
  func cancelled() async throws {
    let bench = try Bench()
    let events = try bench.signed(.firstPurchase)
    let jws = try #require(events.compactMap(\.notification).first)
    let facts = events.flatMap(\.facts).map { Array($0.utf8) }
    // Cancelled at once, or after the verification.
    for patience in [0, facts.count] {
      let asked = Atomic(0)
      let error = await #expect(throws: ServiceError.self) {
        try await bench.service.submit(
          TransactionSubmission(signedPayloads: facts, accountID: "anna"),
          isCancelled: { asked.add(1, ordering: .relaxed).oldValue >= patience })
      }
      #expect(error?.code == .cancelled)
    }
    let error = await #expect(throws: ServiceError.self) {
      try await bench.service.submit(
        NotificationSubmission(signedPayload: Array(jws.utf8)), isCancelled: { true })
    }
    #expect(error?.code == .cancelled)
    #expect(try await bench.store.changes(after: 0, limit: 10).isEmpty)
    await bench.close()
  }

  @Test("Payloads of another app than the request names are refused")
  func otherApp() async throws {
    let bench = try Bench()
    let facts = try bench.signed(.nonConsumable).flatMap(\.facts)
    let result = try await bench.submit(facts, bundleID: "com.example.elsewhere")
    #expect(result.items.allSatisfy { $0.verdict == .wrongApp })
    #expect(result.customers.isEmpty)
    await bench.close()
  }

  @Test("A notification commits its facts; a repeat is a success (R48)")
  func notification() async throws {
    let bench = try Bench()
    let jws = try #require(try bench.signed(.firstPurchase).compactMap(\.notification).first)
    let submission = NotificationSubmission(signedPayload: Array(jws.utf8), accountID: "anna")
    let first = try await bench.service.submit(submission)
    #expect(first.verdict == .ok)
    #expect(first.record?.type == "SUBSCRIBED")
    #expect(!first.wasKnown)
    #expect(first.items.map(\.disposition) == [.added, .added])
    #expect(first.items.map(\.link) == [.linked, .linked])
    let again = try await bench.service.submit(submission)
    #expect(again.wasKnown)
    #expect(again.items.map(\.link) == [.unchanged, .unchanged])
    #expect(again.customers == first.customers)
    let transaction = try await bench.service.submit(
      NotificationSubmission(
        signedPayload: Array(try bench.signed(.nonConsumable).flatMap(\.facts)[0].utf8)))
    #expect(transaction.verdict == .malformed)
    await bench.close()
  }

  @Test("A notification that is submitted as a transaction is refused with advice")
  func notificationAsTransaction() async throws {
    let bench = try Bench()
    let jws = try #require(try bench.signed(.firstPurchase).compactMap(\.notification).first)
    let result = try await bench.submit([jws])
    #expect(result.items.map(\.verdict) == [.malformed])
    #expect(result.items[0].detail?.contains("SubmitNotification") == true)
    await bench.close()
  }

  @Test("A full queue is reported at once, and nothing is stored")
  func full() async throws {
    let bench = try Bench(queue: 1)
    let facts = try bench.signed(.renewals).flatMap(\.facts)
    let error = await #expect(throws: ServiceError.self) {
      try await bench.submit(facts, account: "anna")
    }
    #expect(error?.code == .resourceExhausted)
    #expect(try await bench.store.changes(after: 0, limit: 10).isEmpty)
    await bench.close()
  }

  @Test("A submission is not started after its deadline")
  func deadline() async throws {
    let bench = try Bench()
    let facts = try bench.signed(.firstPurchase).flatMap(\.facts)
    let error = await #expect(throws: ServiceError.self) {
      try await bench.submit(facts, deadline: .now - .seconds(1))
    }
    #expect(error?.code == .deadlineExceeded)
    #expect(try await bench.store.changes(after: 0, limit: 10).isEmpty)
    await bench.close()
  }

  @Test("The stored signed payload equals the submitted one")
  func provable() async throws {
    let bench = try Bench()
    let jws = try bench.signed(.nonConsumable).flatMap(\.facts)[0]
    let result = try await bench.submit([jws])
    let id = try #require(result.items[0].transactionID)
    let stored = try #require(
      try await bench.store.signedFact(
        FactKey(kind: .transaction, identifier: id.rawValue), in: Self.scope))
    let parts = jws.split(separator: ".").map { Array($0.utf8) }
    guard case .jws(let header, let signature) = stored.signed.proof else {
      Issue.record("not a JWS")
      return
    }
    #expect(header == parts[0])
    #expect(base64URL(stored.signed.payload) == parts[1])
    #expect(base64URL(signature) == parts[2])
    await bench.close()
  }

  private func base64URL(_ bytes: [UInt8]) -> [UInt8] {
    Data(bytes).base64EncodedString().utf8.compactMap { byte in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
  }
}
