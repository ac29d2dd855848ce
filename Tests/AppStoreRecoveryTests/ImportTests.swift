import AppStoreRecovery
import EntitlementDomain
import EntitlementService
import EntitlementStore
import RecoverySupport
import SQLiteStore
import StoreSimulator
import Synchronization
import TestSupport
import Testing

/// R89, R90.
@Suite("Imports of accounts", .timeLimit(.minutes(5)))
struct ImportTests {
  private static let name = AccountImportName("i", of: SimulatedApp.bundleID)

  /// Adds rows and does them, until none waits.
  private func done(
    _ bench: RecoveryBench, _ rows: [AccountImportRow]
  ) async throws -> [AccountImportRow] {
    try await add(bench, rows)
    try await bench.recovering { try await $0.store.waitingImportRows(limit: 1) == 0 }
    return try await stored(bench)
  }

  private func add(_ bench: RecoveryBench, _ rows: [AccountImportRow]) async throws {
    _ = try await bench.store.add(
      AccountImportBatch(name: Self.name, rows: rows, at: 0, author: "otto"))
  }

  private static func scopes(_ bench: RecoveryBench) -> [AppScope] {
    StoreEnvironment.allCases.map {
      AppScope(bundleID: bench.scope.bundleID, environment: $0)
    }
  }

  /// In the order of their numbers.
  private func stored(_ bench: RecoveryBench) async throws -> [AccountImportRow] {
    var rows: [AccountImportRow] = []
    for state in AccountImportRow.State.allCases {
      rows += try await bench.store.importRows(
        AccountImportRowQuery(
          name: Self.name, state: state, scopes: Self.scopes(bench), limit: 1_000))
    }
    return rows.sorted { $0.place.number < $1.place.number }
  }

  private func row(
    _ number: Int64, _ account: AccountID, _ transaction: String, in scope: AppScope,
    fallsBack: Bool = false, token: AppAccountToken? = nil
  ) -> AccountImportRow {
    AccountImportRow(
      place: AccountImportRow.Place(Self.name, number), scope: scope, fallsBack: fallsBack,
      account: account, transaction: TransactionID(transaction), token: token, dueAt: 0,
      changedAt: 0)
  }

  private func owner(_ bench: RecoveryBench, _ chain: String) async throws -> AccountID? {
    try await bench.store.customer(
      .originalTransaction(OriginalTransactionID(chain)), in: bench.scope
    ).record.accountID
  }

  /// Buys what the server does not hear of.
  private func buyUnheard(
    _ bench: RecoveryBench, _ product: SimulatedProduct = SimulatedApp.proMonthly,
    by customer: String
  ) async throws -> String {
    try await bench.addFault(#"{"on":"notifications","kind":"lost"}"#)
    let id = try await bench.buy(product, by: customer)
    try await bench.clearFaults()
    return id
  }

  /// No reconciliation finds what an import is to find.
  private static var limits: RecoveryLimits {
    var limits = RecoveryLimits.forTests
    limits.scheduleInterval = .seconds(100_000)
    limits.importWaits = limits.importWaits.map { _ in .milliseconds(1) }
    return limits
  }

  private func run(
    limits: RecoveryLimits = limits, _ body: (RecoveryBench) async throws -> Void
  ) async throws {
    try await RecoveryBench.run(limits: limits) { bench in
      // The first look at the schedule begins a reading, which finds nothing.
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      try await body(bench)
    }
  }

  @Test func `the whole history is stored and linked, and the token is bound`() async throws {
    try await run { bench in
      let chain = try await buyUnheard(bench, by: "anna")
      try await bench.addFault(#"{"on":"notifications","kind":"lost"}"#)
      try await bench.advance(days: 32)
      let other = try await buyUnheard(bench, SimulatedApp.tokens, by: "anna")
      let token: AppAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
      let rows = try await done(bench, [row(1, "a", chain, in: bench.scope, token: token)])
      #expect(rows.map(\.state) == [.done], "\(rows)")
      #expect(try await owner(bench, chain) == "a")
      #expect(try await owner(bench, other) == "a")
      let state = try await bench.state(of: chain)
      #expect(state.groups.first?.standing.status == .active)
      // The renewal info came with the statuses.
      let facts = try await bench.store.customer(.account("a"), in: bench.scope).record.facts
      #expect(facts.contains { if case .renewalInfo = $0 { true } else { false } })
      let tokens = try await bench.store.tokens(of: "a", in: bench.scope, after: nil, limit: 9)
      #expect(tokens.map(\.token) == [token] && tokens.map(\.row.state) == [.bound])
    }
  }

  @Test func `a history of many pages is read to its end`() async throws {
    try await run { bench in
      var last = ""
      for _ in 0..<45 { last = try await buyUnheard(bench, SimulatedApp.tokens, by: "anna") }
      let rows = try await done(bench, [row(1, "a", last, in: bench.scope)])
      #expect(rows.map(\.state) == [.done])
      let facts = try await bench.store.customer(.account("a"), in: bench.scope).record.facts
      #expect(facts.count == 45)
    }
  }

  @Test func `what is met on one page is told at the end, whatever fails between`() async throws {
    var limits = Self.limits
    limits.failures = 10_000
    try await run(limits: limits) { bench in
      let first = try await buyUnheard(bench, SimulatedApp.tokens, by: "anna")
      #expect(try await done(bench, [row(1, "x", first, in: bench.scope)]).map(\.state) == [.done])
      var last = ""
      for _ in 0..<90 { last = try await buyUnheard(bench, SimulatedApp.tokens, by: "anna") }
      // Five pages, each of which some attempts do not get.
      try await bench.addFault(
        #"{"on":"api","kind":"error","errorCode":5000000,"probability":0.95,"#
          + #""path":"/inApps/v2/history"}"#)
      let rows = try await done(bench, [row(2, "b", last, in: bench.scope)])
      #expect(rows.map(\.reason) == [nil, .linkedElsewhere], "\(rows)")
      #expect(rows.last.map { $0.failures > 0 } == true)
      #expect(try await owner(bench, first) == "x")
      // All others are linked.
      let facts = try await bench.store.customer(.account("b"), in: bench.scope).record.facts
      #expect(facts.count == 90)
    }
  }

  @Test func `a member of a family, who has no renewal info, is imported`() async throws {
    try await run { bench in
      _ = try await buyUnheard(bench, SimulatedApp.proMonthly, by: "anna")
      let shared = try await bench.act("share", #"{"customer":"anna","with":"bert"}"#)
      let transaction = (shared["transactions"] as? [[String: Any]])?.first
      let id = try #require(transaction?["transactionId"] as? String)
      let chain = try #require(transaction?["originalTransactionId"] as? String)
      let rows = try await done(bench, [row(1, "b", id, in: bench.scope)])
      #expect(rows.map(\.state) == [.done], "\(rows)")
      #expect(try await owner(bench, chain) == "b")
    }
  }

  @Test func `a row without an environment is looked for in both`() async throws {
    try await run { bench in
      #expect(bench.scope.environment == .sandbox)
      let chain = try await buyUnheard(bench, by: "anna")
      let production = AppScope(bundleID: bench.scope.bundleID, environment: .production)
      let rows = try await done(
        bench,
        [
          row(1, "a", chain, in: production, fallsBack: true),
          row(2, "b", "123456789", in: production, fallsBack: true),
          row(3, "c", chain, in: production),
        ])
      #expect(rows.map(\.state) == [.done, .failed, .failed], "\(rows)")
      #expect(rows.map(\.reason) == [nil, .unknownTransaction, .conflict])
      #expect(try await owner(bench, chain) == "a")
    }
  }

  @Test func `of two accounts for one chain one gets it, and the other row fails`() async throws {
    try await run { bench in
      let chain = try await buyUnheard(bench, by: "anna")
      try await bench.addFault(#"{"on":"notifications","kind":"lost"}"#)
      try await bench.advance(days: 32)
      let rows = try await done(bench, [row(1, "a", chain, in: bench.scope)])
      #expect(rows.map(\.state) == [.done])
      let renewal = try await bench.store.customer(.account("a"), in: bench.scope).record.facts
        .compactMap { fact -> TransactionID? in
          if case .transaction(let transaction) = fact { transaction.transactionID } else { nil }
        }.first { $0.rawValue != chain }
      let id = try #require(renewal)
      let both = try await done(
        bench, [row(2, "b", id.rawValue, in: bench.scope), row(3, "b", chain, in: bench.scope)])
      #expect(both.map(\.state) == [.done, .failed, .failed], "\(both)")
      #expect(both.dropFirst().map(\.reason) == [.linkedElsewhere, .linkedElsewhere])
      #expect(both.allSatisfy { !$0.detail.contains("a ") || !$0.detail.contains("account a") })
      #expect(try await owner(bench, chain) == "a")
    }
  }

  @Test func `a token that is bound to another account is not taken`() async throws {
    try await run { bench in
      let token: AppAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
      let chain = try await buyUnheard(bench, by: "anna")
      let other = try await buyUnheard(bench, by: "bert")
      let rows = try await done(bench, [row(1, "a", chain, in: bench.scope, token: token)])
      #expect(rows.map(\.state) == [.done])
      let both = try await done(bench, [row(2, "b", other, in: bench.scope, token: token)])
      #expect(both.map(\.reason) == [nil, .tokenElsewhere])
      // What Apple signed is linked all the same.
      #expect(try await owner(bench, other) == "b")
    }
  }

  @Test func `what fails is tried again until the App Store answers`() async throws {
    try await run { bench in
      let chain = try await buyUnheard(bench, by: "anna")
      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":5000000}"#)
      try await add(bench, [row(1, "a", chain, in: bench.scope)])
      try await bench.recovering { bench in
        try await bench.store.importRows(
          AccountImportRowQuery(
            name: Self.name, state: .waiting, scopes: Self.scopes(bench), limit: 1)
        ).first.map { $0.failures >= 2 } == true
      }
      let waiting = try await stored(bench)
      #expect(waiting.map(\.state) == [.waiting] && waiting[0].detail.contains("5000000"))
      try await bench.clearFaults()
      try await bench.recovering { try await $0.store.waitingImportRows(limit: 1) == 0 }
      #expect(try await stored(bench).map(\.state) == [.done])
      #expect(try await owner(bench, chain) == "a")
    }
  }

  @Test func `a row whose processes ended too often has failed`() async throws {
    try await run { bench in
      let chain = try await buyUnheard(bench, by: "anna")
      try await add(bench, [row(1, "a", chain, in: bench.scope)])
      for number in 0..<(Self.limits.failures + 1) {
        _ = try await bench.store.leaseImportRows(
          AccountImportLease(
            scopes: [bench.scope], now: Milliseconds(Int64(number)),
            until: Milliseconds(Int64(number + 1)), lease: "\(number)", limit: 1))
      }
      try await bench.recovering { try await $0.store.waitingImportRows(limit: 1) == 0 }
      let rows = try await stored(bench)
      #expect(rows.map(\.reason) == [.givenUp], "\(rows)")
      #expect(rows.map(\.detail) == ["the lease ended without a report"])
      #expect(try await owner(bench, chain) == nil)
    }
  }

  @Test func `the rows of a killed process are done at once by its successor`() async throws {
    try await run { bench in
      let chain = try await buyUnheard(bench, by: "anna")
      try await add(bench, [row(1, "a", chain, in: bench.scope)])
      let far = ServiceClock.system.now().advanced(by: Milliseconds.dayLength)
      let held = try await bench.store.leaseImportRows(
        AccountImportLease(
          scopes: [bench.scope], now: ServiceClock.system.now(), until: far, lease: "killed",
          limit: 1))
      #expect(held.count == 1)
      try await bench.recovering { try await $0.store.waitingImportRows(limit: 1) == 0 }
      let rows = try await stored(bench)
      #expect(rows.map(\.state) == [.done], "\(rows)")
      // It counted, as the row may have been the reason.
      #expect(rows.map(\.failures) == [1])
    }
  }

  @Test func `the lease of a row is renewed while the App Store is slow`() async throws {
    try await RecoveryBench.run(limits: Self.limits, timer: .hasty) { bench in
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      let chain = try await buyUnheard(bench, by: "anna")
      try await bench.addFault(
        #"{"on":"api","kind":"slow","delayMs":60000,"path":"/inApps/v2/history"}"#)
      try await add(bench, [row(1, "a", chain, in: bench.scope)])
      let seen = Mutex<[AccountImportRow]>([])
      try await bench.recovering { bench in
        let found = try await bench.store.importRows(
          AccountImportRowQuery(
            name: Self.name, state: .waiting, scopes: Self.scopes(bench), limit: 1))
        return seen.withLock { seen in
          if let row = found.first, row.lease != nil, row.dueAt != seen.last?.dueAt {
            seen.append(row)
          }
          return seen.count == 3
        }
      }
      let rows = seen.withLock { $0 }
      #expect(Set(rows.map(\.lease)).count == 1 && rows.allSatisfy { $0.failures == 0 })
      #expect(rows.map(\.dueAt) == rows.map(\.dueAt).sorted())
    }
  }

  @Test func `many rows are done while jobs are done too`() async throws {
    try await run { bench in
      var rows: [AccountImportRow] = []
      for number in 0..<300 {
        let chain = try await buyUnheard(bench, SimulatedApp.tokens, by: "c\(number)")
        rows.append(row(Int64(number + 1), AccountID("a\(number)"), chain, in: bench.scope))
      }
      let done = try await done(bench, rows)
      #expect(done.allSatisfy { $0.state == .done })
      for number in [0, 150, 299] {
        let facts = try await bench.store.customer(
          .account(AccountID("a\(number)")), in: bench.scope
        ).record.facts
        #expect(facts.count == 1)
      }
      let values = Dictionary(
        uniqueKeysWithValues: bench.recovery.values.map { ($0.name, $0.value) })
      #expect(values["imports.rows.done"] == 300 && values["imports.running"] == 0)
      #expect(values["imports.rows.lost"] == 0)
    }
  }
}

extension ServiceTimer {
  /// Its waits are short.
  fileprivate static let hasty = ServiceTimer(
    nanoseconds: {
      let (seconds, attoseconds) = ServiceTimer.system.now().components
      return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    },
    sleep: { try await Task.sleep(for: min($0, .milliseconds(5))) })
}
