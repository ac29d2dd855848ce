import AppStoreOperations
import AppStoreRecovery
import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore
import NIOCore
import RecoverySupport
import SQLiteStore
import StoreSimulator
import TestSupport
import Testing
import Verification
import Wire

/// R76: a change at the App Store is in the audit trail before it is asked for, and with its outcome.
@Suite("Changes at the App Store", .timeLimit(.minutes(5)))
struct ChangeTests {
  private func extend(
    _ id: String, in scope: AppScope, days: Int = 10, isDryRun: Bool = false
  ) -> AppStoreChange {
    .extendRenewal(
      ExtendRenewalRequest(
        scope: scope, originalTransactionID: OriginalTransactionID(id), extendByDays: days,
        extendReasonCode: 3, requestIdentifier: "an-outage", isDryRun: isDryRun,
        onBehalfOf: "ada", reason: "an outage"))
  }

  @Test func `an extension moves the renewal date, and is audited twice (R76)`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let desk = bench.operations()
      let tried = try await desk.change(extend(id, in: bench.scope, isDryRun: true), .patient)
      #expect(tried.isDryRun && tried.obstacles.isEmpty && tried.subscriptionStatus == .active)
      let before = try #require(tried.renewalDate)
      #expect(try await bench.trail().isEmpty)

      let done = try await desk.change(extend(id, in: bench.scope), .patient)
      #expect(done.renewalDate == before.advanced(by: 10 * Milliseconds.dayLength))
      #expect(done.requestIdentifier == "an-outage" && !done.isDryRun)
      let trail = try await bench.trail()
      #expect(trail.map(\.method) == ["ExtendRenewal", "ExtendRenewal"])
      #expect(trail.map(\.subject) == ["an-outage", "an-outage"])
      #expect(trail.map(\.outcome) == ["requested", "changed"])
      let entry = try #require(try await bench.store.auditEntries(AuditQuery(limit: 1)).first)
      #expect(entry.onBehalfOf == "ada" && entry.reason == "an outage")
      // No id of Apple's is in the trail (R77).
      #expect(!"\(entry)".contains(id))
      let again = try await desk.change(extend(id, in: bench.scope, isDryRun: true), .patient)
      #expect(again.renewalDate == done.renewalDate)
    }
  }

  @Test func `a dry run names what Apple would refuse, and Apple refuses it`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.act("cancel", #"{"customer":"anna"}"#)
      try await bench.advance(days: 40)
      let desk = bench.operations()
      let tried = try await desk.change(extend(id, in: bench.scope, isDryRun: true), .patient)
      #expect(tried.obstacles == [.expired] && tried.subscriptionStatus == .expired)
      await expectFailure(.refused, code: 4_030_004) {
        _ = try await desk.change(extend(id, in: bench.scope), .patient)
      }
      #expect(try await bench.trail().map(\.outcome) == ["requested", "refused"])

      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":4030005}"#)
      await expectFailure(.refused, code: 4_030_005) {
        _ = try await desk.change(extend(id, in: bench.scope), .patient)
      }
    }
  }

  @Test func `what is no subscription cannot be extended`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard(SimulatedApp.adFree)
      let tried = try await bench.operations().change(
        extend(id, in: bench.scope, isDryRun: true), .patient)
      #expect(tried.obstacles == [.notASubscription] && tried.subscriptionStatus == nil)
    }
  }

  @Test func `after a cut connection it is said that the change may have been made`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      try await bench.addFault(
        #"{"on":"api","kind":"cut","path":"/inApps/v1/subscriptions/extend"}"#)
      let asked = bench.requests
      let error = await #expect(throws: ServiceError.self) {
        _ = try await bench.operations().change(extend(id, in: bench.scope), .patient)
      }
      #expect(error?.message.hasSuffix("; the change may have been made") == true)
      // One extension is never repeated by itself.
      #expect(bench.requests == asked + 1)
      #expect(try await bench.trail().map(\.outcome) == ["requested", "unknown"])
    }
  }

  @Test func `the end of a change is in the trail when the caller is gone`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let held = HeldStore(bench.store, at: .requested)
      defer { held.release() }
      let desk = bench.operations(store: held)
      let change = extend(id, in: bench.scope)
      let calling = Task { _ = try? await desk.change(change, .patient) }
      try await eventually { held.held == 1 }
      calling.cancel()
      held.release()
      await calling.value
      #expect(try await bench.trail().map(\.outcome) == ["requested", "changed"])
    }
  }

  @Test func `a server that stops waits for the outcomes of changes`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let held = HeldStore(bench.store, at: .requested)
      defer { held.release() }
      let desk = bench.operations(store: held)
      let change = extend(id, in: bench.scope)
      let calling = Task { _ = try? await desk.change(change, .patient) }
      try await eventually { held.held == 1 }
      // Not for ever.
      await desk.drain(within: .milliseconds(20))
      #expect(try await bench.trail().map(\.outcome) == ["requested"])
      held.release()
      await desk.drain(within: .seconds(60))
      #expect(try await bench.trail().map(\.outcome) == ["requested", "changed"])
      await calling.value
      // Nothing is in progress.
      await desk.drain(within: .seconds(60))
    }
  }

  @Test("An id that a path cannot have is refused, also in a dry run", arguments: [true, false])
  func ids(isDryRun: Bool) async throws {
    try await RecoveryBench.run { bench async throws in
      let desk = bench.operations()
      for change: AppStoreChange in [
        .finish(
          FinishTransactionRequest(
            scope: bench.scope, transactionID: "1/2", isDryRun: isDryRun)),
        .setToken(
          SetAppAccountTokenRequest(
            scope: bench.scope, originalTransactionID: "1/2",
            appAccountToken: AppAccountToken("7e3fb20b-4cdb-47cc-936d-99d65f608138"),
            isDryRun: isDryRun)),
      ] {
        await expectFailure(.invalidRequest) { _ = try await desk.change(change, .patient) }
      }
      #expect(bench.requests == 0)
      #expect(try await bench.trail().isEmpty)
    }
  }

  @Test func `nothing is asked for when the trail cannot be written`() async throws {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      let asked = bench.requests
      await bench.store.close()
      await #expect(throws: ServiceError.self) {
        _ = try await bench.operations().change(extend(id, in: bench.scope), .patient)
      }
      #expect(bench.requests == asked)
    }
  }

  @Test(
    "Arguments are checked, also in a dry run, before anything is asked",
    arguments: [(0, 0), (91, 0), (10, 4), (10, -1)])
  func arguments(days: Int, reason: Int) async throws {
    try await RecoveryBench.run { bench async throws in
      for isDryRun in [true, false] {
        let request = ExtendRenewalRequest(
          scope: bench.scope, originalTransactionID: "1", extendByDays: days,
          extendReasonCode: reason, requestIdentifier: "r", isDryRun: isDryRun)
        await expectFailure(.invalidRequest) {
          _ = try await bench.operations().change(.extendRenewal(request), .patient)
        }
      }
      #expect(bench.requests == 0)
      #expect(try await bench.trail().isEmpty)
    }
  }

  @Test func `all subscribers of a product are extended, and the status tells how many`()
    async throws
  {
    try await RecoveryBench.run { bench async throws in
      _ = try await bench.buyUnheard()
      let desk = bench.operations()
      let product = SimulatedApp.proMonthly.id
      var request = ExtendAllRenewalsRequest(
        scope: bench.scope, productID: product, extendByDays: 5, extendReasonCode: 0,
        requestIdentifier: "all-1", storefrontCountryCodes: ["usa"])
      await expectFailure(.invalidRequest) {
        _ = try await desk.change(.extendAllRenewals(request), .patient)
      }
      request.storefrontCountryCodes = []
      request.isDryRun = true
      #expect(try await desk.change(.extendAllRenewals(request), .patient).isDryRun)
      #expect(bench.requests == 0)
      request.isDryRun = false
      let done = try await desk.change(.extendAllRenewals(request), .patient)
      #expect(done.requestIdentifier == "all-1")
      let question = GetRenewalExtensionRequest(
        scope: bench.scope, productID: product, requestIdentifier: "all-1")
      #expect(try await desk.extensionStatus(question, .patient).isComplete == false)
      try await bench.advance(hours: 2)
      let status = try await desk.extensionStatus(question, .patient)
      #expect(status.isComplete && status.succeeded == 1 && status.failed == 0)
      #expect(status.completedAt != nil)
      #expect(try await bench.trail().map(\.outcome) == ["requested", "changed"])
    }
  }

  @Test func `a token is set, a transaction finished, and a test notification requested`()
    async throws
  {
    try await RecoveryBench.run { bench async throws in
      let id = try await bench.buyUnheard()
      bench.setDeaf(false)
      let desk = bench.operations()
      let token = AppAccountToken("7e3fb20b-4cdb-47cc-936d-99d65f608138")
      _ = try await desk.change(
        .setToken(
          SetAppAccountTokenRequest(
            scope: bench.scope, originalTransactionID: OriginalTransactionID(id),
            appAccountToken: token)), .patient)
      let page = try await desk.payloads(
        .transaction(GetTransactionRequest(scope: bench.scope, transactionID: TransactionID(id))),
        .patient)
      guard case .transaction(let fact)? = try page.payloads.first?.result.get().content else {
        Issue.record("no transaction")
        return
      }
      #expect(fact.appAccountToken == token)
      _ = try await desk.change(
        .finish(FinishTransactionRequest(scope: bench.scope, transactionID: TransactionID(id))),
        .patient)
      await expectFailure(.notFound, code: 4_040_010) {
        _ = try await desk.change(
          .finish(FinishTransactionRequest(scope: bench.scope, transactionID: "987654321")),
          .patient)
      }
      let test = try await desk.change(
        .testNotification(RequestTestNotificationRequest(scope: bench.scope)), .patient)
      let testToken = try #require(test.testNotificationToken)
      try await bench.advance(hours: 1)
      let sent = try await desk.testNotification(
        GetTestNotificationRequest(scope: bench.scope, testNotificationToken: testToken), .patient)
      #expect(sent.notifications.first?.attempts.first?.result == "SUCCESS")
      #expect(try sent.notifications.first?.payload.result.get().kind == .notification)
      let trail = try await bench.trail()
      #expect(
        trail.map(\.method) == [
          "SetAppAccountToken", "SetAppAccountToken", "FinishTransaction", "FinishTransaction",
          "FinishTransaction", "FinishTransaction", "RequestTestNotification",
          "RequestTestNotification",
        ])
      #expect(
        trail.map(\.outcome) == [
          "requested", "changed", "requested", "changed", "requested", "refused", "requested",
          "changed",
        ])
      // The two entries of a change have the same subject, and no others.
      #expect(Set(trail.map(\.subject)).count == 4)
    }
  }
}
