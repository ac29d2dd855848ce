import EntitlementDomain
import EntitlementService
import EntitlementStore
import Foundation
import SQLiteStore
import StoreSimulator
import Synchronization
import Testing
import Verification

@Suite("Submitting legacy receipts")
struct ReceiptSubmissionTests {
  private typealias Bench = ServiceBench

  @Test("A receipt of 187 purchases is 187 facts and one of the app, and is idempotent (R50)")
  func manyItems() async throws {
    try await Bench.run { bench async throws in
      let receipt = SimulatedReceipt.ofLongHistory(itemCount: 187, creationDate: Bench.now)
      let first = try await bench.submit(receipt: receipt, account: "anna")
      #expect(first.verdict == .ok)
      #expect(first.receipt?.items.count == 187)
      #expect(first.items.count == 188)
      #expect(first.items.map(\.kind).first == .appTransaction)
      #expect(first.items.dropFirst().allSatisfy { $0.kind == .transaction })
      #expect(
        first.items.dropFirst().map(\.transactionID) == receipt.items.map(\.transactionID))
      #expect(first.items.allSatisfy { $0.disposition == .added && $0.link == .linked })
      #expect(first.customers.map(\.subject) == [.account(Bench.scope, "anna")])
      let known = try await bench.store.customer(.account("anna"), in: Bench.scope)
      #expect(known.record.facts.count == 188)
      #expect(known.record.facts.allSatisfy { $0.authority == .receipt })

      let state = try await bench.state(of: "anna")
      #expect(state.coreState == .active)
      #expect(state.entitlements.map(\.entitlementID) == ["basic"])
      #expect(state.entitlements.flatMap(\.sources).map(\.evidence) == [.receipt])
      // The catalog has it; receipts do not.
      #expect(state.groups.map(\.standing.productType) == [.autoRenewable])

      let again = try await bench.submit(receipt: receipt)
      #expect(again.items.allSatisfy { $0.disposition == .duplicate && $0.link == .unchanged })
      #expect(again.customers == first.customers)
      #expect(bench.counters[.receiptAccepted] == 2)
      #expect(bench.counters[.facts(.added)] == 188)
    }
  }

  @Test(
    "R51: a JWS of the same transaction stands, in either order", arguments: [true, false])
  func merging(receiptFirst: Bool) async throws {
    try await Bench.run { bench async throws in
      // The receipt is newer than the JWS and still does not replace it.
      let receipt = Bench.receipt(["1", "2"], daysAgo: 0)
      let jws = try bench.purchase("1")
      if receiptFirst {
        _ = try await bench.submit(receipt: receipt, account: "anna")
        let sources = try await bench.sources(of: "anna")
        #expect(sources.map(\.evidence) == [.receipt, .receipt])
        #expect(sources.allSatisfy { $0.since == Bench.boughtInReceipt })
        let newer = try await bench.submit([jws])
        #expect(newer.items.map(\.disposition) == [.replaced])
        #expect(newer.customers.map(\.subject) == [.account(Bench.scope, "anna")])
      } else {
        _ = try await bench.submit([jws], account: "anna")
        let later = try await bench.submit(receipt: receipt, account: "anna")
        #expect(later.items.map(\.disposition) == [.added, .superseded, .added])
      }
      let record = try await bench.store.customer(.account("anna"), in: Bench.scope).record
      let authorities = Dictionary(
        uniqueKeysWithValues: record.facts.filter { $0.kind == .transaction }.map {
          ($0.key.identifier, $0.authority)
        })
      #expect(authorities == ["1": .signedTransaction, "2": .receipt])
    }
  }

  @Test("R51: the state has the evidence of each purchase, which changes with a JWS")
  func evidence() async throws {
    try await Bench.run { bench async throws in
      _ = try await bench.submit(receipt: Bench.receipt(["1"], daysAgo: 0), account: "anna")
      #expect(try await bench.sources(of: "anna").map(\.evidence) == [.receipt])
      _ = try await bench.submit([try bench.purchase("1")])
      let sources = try await bench.sources(of: "anna")
      #expect(sources.map(\.evidence) == [.signedTransaction])
      // The JWS fact of the purchase stands too.
      #expect(sources.map(\.since) == [Bench.now.advanced(by: -Milliseconds.dayLength)])
      _ = try await bench.submit(receipt: Bench.receipt(["1"], daysAgo: 0))
      #expect(try await bench.sources(of: "anna") == sources)
    }
  }

  @Test("A refreshed receipt replaces the older one, in either order, for the same customer")
  func refreshed() async throws {
    try await Bench.run { bench async throws in
      let old = Bench.receipt(["1"], daysAgo: 5)
      var new = Bench.receipt(["1", "2"], daysAgo: 1)
      new.applicationVersion = "3.0"
      _ = try await bench.submit(receipt: old, account: "anna")
      // No account is named. The purchase that both receipts contain gives the owner (R42).
      let refreshed = try await bench.submit(receipt: new)
      #expect(refreshed.items.map(\.disposition) == [.replaced, .replaced, .added])
      #expect(refreshed.items.map(\.link) == [.unchanged, .unchanged, .linked])
      #expect(refreshed.customers.map(\.subject) == [.account(Bench.scope, "anna")])
      let late = try await bench.submit(receipt: old)
      #expect(late.items.map(\.disposition) == [.superseded, .superseded])
      let record = try await bench.store.customer(.account("anna"), in: Bench.scope).record
      #expect(record.facts.count == 3)
    }
  }

  @Test("Two receipts of one Apple account with one purchase in common have one owner (R42)")
  func twoDevices() async throws {
    try await Bench.run { bench async throws in
      let phone = Bench.receipt(["1", "2"], daysAgo: 3)
      let tablet = Bench.receipt(["2", "3"], daysAgo: 2)
      _ = try await bench.submit(receipt: phone, account: "anna")
      let second = try await bench.submit(receipt: tablet)
      #expect(second.verdict == .ok)
      #expect(second.items.dropFirst().map(\.disposition) == [.replaced, .added])
      #expect(second.items.dropFirst().first?.link == .unchanged)
      #expect(second.customers.contains { $0.subject == .account(Bench.scope, "anna") })
    }
  }

  @Test(
    "R44: a receipt's claim is decided by the link policy of the app",
    arguments: LinkPolicy.allCases)
  func claims(policy: LinkPolicy) async throws {
    let catalog = SimulatedApp.catalogYAML.replacing(
      "    environments: [Production, Sandbox]",
      with: "    environments: [Production, Sandbox]\n    link_policy: \(policy.rawValue)")
    try await Bench.run(catalog: catalog) { bench async throws in
      let receipt = Bench.receipt(["1", "2"])
      _ = try await bench.submit(receipt: receipt, account: "owner")
      let owner = try await bench.state(of: "owner")
      let claim = try await bench.submit(receipt: receipt, account: "claimer")
      #expect(claim.verdict == .ok)
      switch policy {
      case .transfer:
        #expect(claim.items.map(\.link) == [.transferred, .transferred, .transferred])
        #expect(try await bench.state(of: "owner").coreState == .new)
        #expect(try await bench.sources(of: "claimer").map(\.evidence) == [.receipt, .receipt])
      case .transferIfInactive, .keep:
        #expect(claim.items.dropFirst().map(\.link) == [.alreadyLinked, .alreadyLinked])
        #expect(try await bench.state(of: "owner").entitlements == owner.entitlements)
        #expect(try await bench.sources(of: "claimer").isEmpty)
        #expect(claim.customers.allSatisfy { $0.subject != .account(Bench.scope, "owner") })
      }
    }
  }

  @Test(
    "A Sandbox receipt is refused where Sandbox is not accepted, and is separate elsewhere (R9)")
  func sandbox() async throws {
    let receipt = Bench.receipt(["1"], type: "ProductionSandbox")
    try await Bench.run { bench async throws in
      let result = try await bench.submit(receipt: receipt, account: "anna")
      #expect(result.receipt?.environment == .sandbox)
      let sandbox = AppScope(bundleID: SimulatedApp.bundleID, environment: .sandbox)
      #expect(result.customers.map(\.subject) == [.account(sandbox, "anna")])
      #expect(try await bench.state(of: "anna").coreState == .new)
    }
    let production = SimulatedApp.catalogYAML.replacing(
      "[Production, Sandbox]", with: "[Production]")
    try await Bench.run(catalog: production) { bench async throws in
      let result = try await bench.submit(receipt: receipt, account: "anna")
      #expect(result.verdict == .wrongEnvironment)
      #expect(try await bench.changeCount() == 0)
    }
  }

  @Test("R52: a receipt without purchases is a success, and the state has the offers")
  func empty() async throws {
    try await Bench.run { bench async throws in
      let result = try await bench.submit(receipt: Bench.receipt([]), account: "anna")
      #expect(result.verdict == .ok)
      #expect(result.receipt?.items.isEmpty == true)
      #expect(result.items.map(\.kind) == [.appTransaction])
      #expect(result.items.map(\.disposition) == [.added])
      let state = try await bench.state(of: "anna")
      #expect(state.coreState == .new)
      #expect(state.callsToAction == [.merchandise])
      #expect(state.entitlements.isEmpty && state.products.isEmpty)
      // Without an account it is unlinked, which is no error.
      let unnamed = try await bench.submit(receipt: Bench.receipt([], daysAgo: 2))
      #expect(unnamed.verdict == .ok)
    }
  }

  @Test("An invalid purchase is refused at its position, and does not affect the others")
  func unusableItem() async throws {
    try await Bench.run { bench async throws in
      var receipt = Bench.receipt(["1", "2", "3"])
      receipt.items[1].transactionID = nil
      receipt.items[1].originalTransactionID = nil
      let result = try await bench.submit(receipt: receipt, account: "anna")
      #expect(result.verdict == .ok)
      // DER sorts a SET by length, so the receipt gives the positions.
      let read = try #require(result.receipt?.items)
      #expect(read.count == 3)
      for (item, became) in zip(read, result.items.dropFirst()) {
        #expect(became.verdict == (item.transactionID == nil ? .malformed : .ok))
        #expect(became.transactionID == item.transactionID)
        #expect(became.kind == .transaction)
        #expect((became.detail == nil) == (became.verdict == .ok))
      }
      #expect(result.items.map(\.verdict).filter { $0 == .ok }.count == 3)
      #expect(bench.counters[.refused(.malformed)] == 1)
      #expect(bench.counters[.receiptAccepted] == 1)
      #expect(bench.log.lines.map(\.metadata["refused"]) == ["1"])
    }
  }

  @Test("A refused receipt stores nothing and has a reason", arguments: Refused.allCases)
  func refused(_ reason: Refused) async throws {
    try await Bench.run { bench async throws in
      let receipt = Bench.receipt(["1"])
      var submission = ReceiptSubmission(receipt: try bench.signed(receipt), accountID: "anna")
      try reason.apply(to: &submission, signedBy: try Bench.receiptAuthority.get())
      let result = try await bench.service.submit(submission)
      #expect(result.verdict == reason.verdict)
      #expect(result.detail?.isEmpty == false)
      #expect(result.receipt == nil)
      #expect(result.items.isEmpty && result.customers.isEmpty)
      #expect(try await bench.changeCount() == 0)
      #expect(bench.counters[.refused(reason.verdict)] == 1)
      #expect(bench.counters[.receiptAccepted] == 0)
      #expect(bench.log.lines.map(\.metadata["verdict"]) == [reason.verdict.name])
    }
  }

  enum Refused: CaseIterable {
    case otherApp, unknownApp, otherDevice, changed, notAReceipt, jws

    var verdict: Verdict {
      switch self {
      case .otherApp, .unknownApp: .wrongApp
      case .otherDevice: .wrongDevice
      case .changed: .invalidSignature
      case .notAReceipt, .jws: .malformed
      }
    }

    func apply(to submission: inout ReceiptSubmission, signedBy authority: ReceiptAuthority) throws
    {
      switch self {
      case .otherApp: submission.bundleID = "com.example.elsewhere"
      case .unknownApp:
        submission.receipt = try authority.sign(
          SimulatedReceipt(
            bundleID: "com.example.elsewhere", creationDate: ServiceBench.now))
      case .otherDevice: submission.deviceIdentifier = [UInt8](repeating: 7, count: 16)
      case .changed:
        // The signature is at the end.
        submission.receipt[submission.receipt.count - 9] ^= 1
      case .notAReceipt: submission.receipt = Array("{}".utf8)
      case .jws: submission.receipt = Array("e30.e30.AA".utf8)
      }
    }
  }

  @Test("The device identifier is checked, and base64 is accepted")
  func device() async throws {
    try await Bench.run { bench async throws in
      let receipt = Bench.receipt(["1"])
      let made = try await bench.submit(
        receipt: receipt, device: receipt.deviceIdentifier, bundleID: SimulatedApp.bundleID)
      #expect(made.verdict == .ok)
      let text = Data(try bench.signed(receipt))
        .base64EncodedString(options: [.lineLength76Characters])
      let again = try await bench.service.submit(ReceiptSubmission(receipt: Array(text.utf8)))
      #expect(again.items.map(\.disposition) == [.duplicate, .duplicate])
    }
  }

  @Test("A cancelled submission, or one above the queue limit, is not stored")
  func givenUp() async throws {
    try await Bench.run { bench async throws in
      let receipt = try bench.signed(Bench.receipt(["1"]))
      let cancelled = await #expect(throws: ServiceError.self) {
        try await bench.service.submit(
          ReceiptSubmission(receipt: receipt), isCancelled: { true })
      }
      #expect(cancelled?.code == .cancelled)
      // Cancelled after the verification.
      let asked = Atomic(0)
      let late = await #expect(throws: ServiceError.self) {
        try await bench.service.submit(
          ReceiptSubmission(receipt: receipt),
          isCancelled: { asked.add(1, ordering: .relaxed).oldValue >= 1 })
      }
      #expect(late?.code == .cancelled)
      let expired = await #expect(throws: ServiceError.self) {
        try await bench.service.submit(
          ReceiptSubmission(receipt: receipt), deadline: .now - .seconds(1))
      }
      #expect(expired?.code == .deadlineExceeded)
      #expect(try await bench.changeCount() == 0)
    }
  }

  @Test("Every stored fact has the signed receipt")
  func provable() async throws {
    try await Bench.run { bench async throws in
      let receipt = Bench.receipt(["1", "2"])
      let der = try bench.signed(receipt)
      _ = try await bench.submit(receipt: receipt, account: "anna")
      for id in ["1", "2"] {
        let stored = try #require(
          try await bench.store.signedFact(
            FactKey(kind: .transaction, identifier: id), in: Bench.scope))
        #expect(stored.signed.proof == .document(der))
      }
    }
  }
}
