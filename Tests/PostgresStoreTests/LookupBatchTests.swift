import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "Lookups that share a round trip", .enabled(if: EphemeralPostgres.isAvailable),
  .timeLimit(.minutes(2)))
struct LookupBatchTests {
  private static let other = AppScope(bundleID: "com.example.reader", environment: .sandbox)

  private static func accounts(_ count: Int) -> [CustomerSelector] {
    (0..<count).map { .account(AccountID("account-\($0)")) }
  }

  private static func lookups(
    _ selectors: [CustomerSelector], in scope: AppScope = StoreSample.scope
  ) -> [CustomerLookup] {
    selectors.map { CustomerLookup($0, in: scope, .primary) }
  }

  @Test("A batch is one exchange, with the same answers as separate lookups")
  func answers() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) { $0.readingConnections = 1 }
      for number in 0..<20 {
        // Accounts with none, one and several chains.
        for chain in 0..<(number % 4) {
          let id = "\(number)-\(chain)"
          try await store.submit(id, id, by: AccountID("account-\(number)"))
        }
      }
      _ = try await store.addGrant(
        Grant(
          id: "gift", scope: Self.other, accountID: "account-1", entitlementID: "pro", starts: 0,
          reason: "a gift", author: "otto", createdAt: StoreSample.now))
      // In the other environment, one account has this grant and the others have nothing.
      var lookups =
        Self.lookups(Self.accounts(250)) + Self.lookups(Self.accounts(25), in: Self.other)
      lookups += Self.lookups([.transaction("3-1"), .originalTransaction("5-0")])
      var alone: [StoredCustomer] = []
      for lookup in lookups {
        alone.append(try await store.customer(lookup.selector, in: lookup.scope, .primary))
      }
      #expect(alone.contains { $0.record.facts.count == 3 })
      try await expectExchanges(1, of: store) {
        let together = try await store.customers(lookups).map { try $0.get() }
        #expect(together.map(Self.inOneOrder) == alone.map(Self.inOneOrder))
      }
      // A merged account names its target, which takes a second round trip.
      _ = try await store.perform(
        LinkRequest(
          scope: StoreSample.scope, change: .merge("account-3", into: "account-7"),
          onBehalfOf: "otto", reason: "one person", at: StoreSample.now))
      try await expectExchanges(2, of: store) {
        let merged = try await store.customers(Self.lookups(Self.accounts(9))).map { try $0.get() }
        #expect(merged[3].record.accountID == "account-7")
        #expect(merged[3].record.facts.count == 6)
        #expect(Self.inOneOrder(merged[3]) == Self.inOneOrder(merged[7]))
      }
      await store.close()
    }
  }

  /// - Parameter body: takes `count` exchanges.
  private func expectExchanges(
    _ count: Int, of store: PostgresStore, _ body: () async throws -> Void
  ) async throws {
    // Statistics are published at the end of a turn of the pool's loop.
    try await eventually { store.statistics.readsInFlight == 0 }
    let before = store.statistics.exchanges
    try await body()
    try await eventually { store.statistics.readsInFlight == 0 }
    #expect(store.statistics.exchanges == before + count)
  }

  private static func inOneOrder(_ customer: StoredCustomer) -> StoredCustomer {
    var customer = customer
    customer.record.facts.sort { "\($0.key)" < "\($1.key)" }
    return customer
  }

  @Test("A lookup that the database refuses does not fail the others")
  func refusedAlone() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) { $0.readingConnections = 1 }
      try await store.submit("1", "1", by: "alice")
      let outcomes = await store.customers(
        Self.lookups(
          // PostgreSQL refuses a text with a NUL.
          (0..<16).map { .account($0.isMultiple(of: 5) ? "a\u{0}b" : "alice") }))
      for (number, outcome) in outcomes.enumerated() {
        switch outcome {
        case .success(let customer):
          #expect(!number.isMultiple(of: 5) && customer.record.revision > 0)
        case .failure(let failure): #expect(number.isMultiple(of: 5), "\(failure)")
        }
      }
      await store.close()
    }
  }

  @Test("When the statement of a batch is too slow, each customer is read separately")
  func tooSlow() async throws {
    try await TestDatabases.withDatabase { connection in
      // Its half is less than the statement timeout of the server, ten seconds.
      let store = try await Self.open(connection, limit: .seconds(18))
      let selectors = Self.accounts(16)
      for case .account(let account) in selectors {
        try await store.submit(account.rawValue, account.rawValue, by: account)
      }
      // Prepares both statements, because the preparation would wait for the lock.
      _ = await store.customers(Self.lookups(selectors))
      _ = try await store.customer(selectors[0], in: StoreSample.scope, .primary)
      let blocker = try await OpenTransaction(connection, "LOCK TABLE accounts")
      let reads = Task { await store.customers(Self.lookups(selectors)) }
      // The batch has used its half of the time.
      try await eventually { store.statistics.timeouts >= 1 }
      await blocker.end()
      for (selector, outcome) in zip(selectors, await reads.value) {
        #expect(try selector == .account(#require(try outcome.get().record.accountID)))
      }
      await store.close()
    }
  }

  @Test("A lookup of a cancelled task ends at once")
  func cancelled() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await Self.open(connection, limit: .seconds(60))
      try await store.submit("0", "0", by: "alice")
      let blocker = try await OpenTransaction(connection, "LOCK TABLE accounts")
      let read = Task {
        try await store.customer(.account("alice"), in: StoreSample.scope, .primary)
      }
      try await eventually { store.statistics.readsInFlight == 1 }
      read.cancel()
      let failure = await #expect(throws: StoreError.self) { try await read.value }
      #expect(failure?.code == .unavailable)
      #expect(failure?.message == "the call was cancelled")
      await blocker.end()
      await store.close()
    }
  }

  /// A store with one reading connection.
  private static func open(_ connection: String, limit: Duration) async throws -> PostgresStore {
    try await TestDatabases.open(connection) {
      $0.readingConnections = 1
      $0.readTimeLimit = limit
      // Longer than any test.
      $0.lockTimeLimit = .seconds(60)
    }
  }
}
