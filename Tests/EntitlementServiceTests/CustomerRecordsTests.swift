import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import StoreConformance
import StoreSimulator
import Synchronization
import Testing
import Workers

@Suite("Records of customers (R46)")
struct CustomerRecordsTests {
  private static let audit = ChangeAudit(
    onBehalfOf: "ops@example.com", reason: "it was asked for", caller: .server)

  @Test("The history has links, grants, withdrawals and notifications in order of time")
  func history() async throws {
    try await ServiceBench.run { bench async throws in
      let later = { (step: Int64) in
        bench.clock.set(ServiceBench.now.advanced(by: step * 1_000))
      }
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      later(1)
      let grant = try await bench.grants.add(
        GrantRequest(
          scope: ServiceBench.scope, accountID: "anna", entitlementID: "pro", reason: "r",
          onBehalfOf: "a")
      ).grant
      later(2)
      let jws = try #require(try bench.signed(.refunded).compactMap(\.notification).last)
      _ = try await bench.submit(notification: jws, account: "anna")
      later(3)
      let ended = try await bench.grants.withdraw(
        grant.id, in: ServiceBench.scope, reason: "over", onBehalfOf: "a"
      ).grant
      later(4)
      _ = try await bench.links.transfer(
        .chain("1"), from: nil, to: "bert", in: ServiceBench.scope, Self.audit)

      let history = try await bench.records.history(of: "anna", in: ServiceBench.scope)
      #expect(history.accountID == "anna")
      #expect(history.entries.map(\.at) == history.entries.map(\.at).sorted())
      let occurrences = history.entries.map { entry in
        switch entry.occurrence {
        case .link(let step): "link \(step.event.reason.rawValue)"
        case .grant(let given): "grant \(given.id == grant.id)"
        case .grantWithdrawal(let given): "withdrawal \(given == ended)"
        case .notification: "notification"
        }
      }
      #expect(
        occurrences == [
          "link named", "grant true", "notification", "link named", "link named",
          "withdrawal true", "link transferred",
        ])
    }
  }

  @Test("In one millisecond a notification precedes its effects")
  func sameMoment() async throws {
    try await ServiceBench.run { bench async throws in
      let jws = try #require(try bench.signed(.refunded).compactMap(\.notification).last)
      _ = try await bench.submit(notification: jws, account: "anna")
      let history = try await bench.records.history(of: "anna", in: ServiceBench.scope)
      guard case .notification = history.entries.first?.occurrence else {
        Issue.record("\(history.entries)")
        return
      }
      #expect(history.entries.count > 1)
      #expect(Set(history.entries.map(\.at)).count == 1)
    }
  }

  @Test("An unknown account has no history and no export, and cannot be deleted")
  func unknown() async throws {
    try await ServiceBench.run { bench async throws in
      let calls: [(CustomerRecords) async throws -> Void] = [
        { _ = try await $0.history(of: "nobody", in: ServiceBench.scope) },
        { _ = try await $0.export("nobody", in: ServiceBench.scope) },
        { _ = try await $0.delete("nobody", in: ServiceBench.scope, Self.audit) },
      ]
      for call in calls {
        let error = await #expect(throws: ServiceError.self) { try await call(bench.records) }
        #expect(error?.code == .notFound)
      }
    }
  }

  @Test("A history does not read signed payloads")
  func historyReadsNoPayloads() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      let records = CustomerRecords(
        store: UnexportedStore(base: bench.store), catalog: bench.holder, clock: bench.clock.clock,
        changes: bench.changes)
      let history = try await records.history(of: "anna", in: ServiceBench.scope)
      #expect(history == (try await bench.records.history(of: "anna", in: ServiceBench.scope)))
      #expect(!history.entries.isEmpty)
    }
  }

  @Test("An export that cannot be audited is not made (R76)")
  func unauditedExport() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      let records = CustomerRecords(
        store: UnauditedStore(base: bench.store), catalog: bench.holder, clock: bench.clock.clock,
        changes: bench.changes, limits: ExportLimits(exports: 1))
      // Twice: a failed export keeps no permit.
      for _ in 0..<2 {
        let error = await #expect(throws: ServiceError.self) {
          try await records.export("anna", in: ServiceBench.scope)
        }
        #expect(error?.code == .unavailable)
      }
      _ = try await bench.records.export("anna", in: ServiceBench.scope)
      #expect(
        try await bench.store.auditEntries(AuditQuery(limit: 9)).map(\.method)
          == ["ExportCustomer"])
    }
  }

  @Test func `a caller leaves a permit to others, and an export that is not read gives way`()
    async throws
  {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      let timer = MovableTimer()
      let records = CustomerRecords(
        store: bench.store, catalog: bench.holder, clock: bench.clock.clock, changes: bench.changes,
        timer: timer.timer)
      let ended = Mutex<[UInt64]>([])
      func export(_ caller: UInt64) async throws -> CustomerExport {
        let export = try await records.export("anna", in: ServiceBench.scope, for: .caller(caller))
        export.givesWay { ended.withLock { $0.append(caller) } }
        return export
      }
      func isRefused(_ caller: UInt64) async -> Bool {
        let error = await #expect(throws: ServiceError.self) { try await export(caller) }
        return error?.code == .tooManyExports
      }
      var exports = [try await export(1), try await export(1)]
      #expect(await isRefused(1))
      exports.append(try await export(2))
      // All three are taken, and were read a moment ago.
      timer.advance(by: .seconds(4))
      #expect(await isRefused(3))
      exports[0].wasRead()
      timer.advance(by: .seconds(1))
      // The other export of caller 1 gives way: caller 2 has no more than caller 3 would get.
      exports.append(try await export(3))
      #expect(ended.withLock(\.self) == [1])
      // Each has one: neither takes another's, but its own in place of one that it does not read.
      timer.advance(by: .seconds(60))
      exports[0].wasRead()
      exports[2].wasRead()
      #expect(await isRefused(1))
      exports.append(try await export(3))
      #expect(ended.withLock(\.self) == [1, 3])
      // One that gave way has nothing to release.
      exports.remove(at: 1)
      #expect(await isRefused(4))
      withExtendedLifetime(exports) {}
    }
  }

  @Test("Concurrent exports are limited; a released export frees its permit")
  func permits() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      let records = CustomerRecords(
        store: bench.store, catalog: bench.holder, clock: bench.clock.clock, changes: bench.changes,
        limits: ExportLimits(exports: 2))
      func export() async throws -> CustomerExport {
        try await records.export("anna", in: ServiceBench.scope)
      }
      // A refused export, or one of an unknown account, takes no permit.
      for _ in 0..<3 {
        await #expect(throws: ServiceError.self) {
          try await records.export("nobody", in: ServiceBench.scope)
        }
      }
      var exports = [try await export(), try await export()]
      for _ in 0..<2 {
        let error = await #expect(throws: ServiceError.self) { try await export() }
        #expect(error?.code == .tooManyExports)
      }
      exports.removeFirst()
      exports.append(try await export())
      await #expect(throws: ServiceError.self) { try await export() }
      exports = []
      let last = try await export()
      #expect(last.account.accountID == "anna")
      #expect(last.state.accountID == "anna")
    }
  }

  @Test("A deleted account is new for every reader; its purchases are unlinked and can be claimed")
  func delete() async throws {
    try await ServiceBench.run { bench async throws in
      let jws = try bench.purchase()
      _ = try await bench.submit([jws], account: "anna")
      #expect(try await bench.state(of: "anna").coreState == .active)
      let receipt = try await bench.records.delete("anna", in: ServiceBench.scope, Self.audit)
      #expect(receipt.isChanged)
      let again = try await bench.records.delete("anna", in: ServiceBench.scope, Self.audit)
      #expect(!again.isChanged)
      #expect(bench.counters[.linkChange(.deleted)] == 1)
      #expect(try await bench.state(of: "anna").coreState == .new)
      let chains = try await bench.records.unlinkedChains(
        in: ServiceBench.scope, after: nil, limit: 10)
      #expect(chains.map(\.chain) == ["1"])
      let history = try await bench.links.history(of: .chain("1"), in: ServiceBench.scope)
      #expect(history.allSatisfy { $0.event.from == nil && $0.event.to == nil })
      let gone = await #expect(throws: ServiceError.self) {
        try await bench.records.history(of: "anna", in: ServiceBench.scope)
      }
      #expect(gone?.code == .notFound)
      let claim = try await bench.submit([jws], account: "bert")
      #expect(claim.items.map(\.link) == [.linked])
      #expect(try await bench.state(of: "bert").coreState == .active)
    }
  }

  @Test("Unlinked chains are listed by id, in pages")
  func unlinked() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit(try (1...5).map { try bench.purchase("\($0)") })
      _ = try await bench.submit([try bench.purchase("9")], account: "anna")
      var after: OriginalTransactionID?
      var chains: [OriginalTransactionID] = []
      while true {
        let page = try await bench.records.unlinkedChains(
          in: ServiceBench.scope, after: after, limit: 2)
        chains += page.map(\.chain)
        guard page.count == 2 else { break }
        after = page.last?.chain
      }
      #expect(chains == ["1", "2", "3", "4", "5"])
    }
  }
}

/// A store whose export must not be called.
private struct UnexportedStore: ForwardingStore {
  let base: any EntitlementStore

  func export(_ account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountExport?
  {
    throw StoreError(.internalFault, "an export was read")
  }
}
