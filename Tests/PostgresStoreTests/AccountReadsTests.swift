import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Reads that share a statement", .enabled(if: EphemeralPostgres.isAvailable))
struct AccountReadsTests {
  private static let other = AppScope(bundleID: "com.example.reader", environment: .sandbox)

  @Test("A thousand reads at once answer what each answers alone, in fewer statements")
  func sharedAnswers() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) { $0.readingConnections = 1 }
      for number in 0..<20 {
        // Accounts of no, one and several chains.
        for chain in 0..<(number % 4) {
          let id = "\(number)-\(chain)"
          try await store.submit(id, id, by: AccountID("account-\(number)"))
        }
      }
      _ = try await store.perform(
        LinkRequest(
          scope: StoreSample.scope, change: .merge("account-3", into: "account-7"),
          author: "otto", reason: "one person", at: StoreSample.now))
      _ = try await store.addGrant(
        Grant(
          id: "gift", scope: Self.other, accountID: "account-1", entitlementID: "pro", starts: 0,
          reason: "a gift", author: "otto", createdAt: StoreSample.now))
      // In the other environment one has this grant, and the others have nothing.
      let queries: [(AccountID, AppScope)] = [StoreSample.scope, Self.other].flatMap { scope in
        (0..<25).map { (AccountID("account-\($0)"), scope) }
      }
      var alone: [StoredCustomer] = []
      for (account, scope) in queries {
        alone.append(try await store.customer(.account(account), in: scope, .primary))
      }
      #expect(alone.contains { $0.record.facts.count == 6 })
      // Nobody is answered before all have asked.
      let blocker = try await OpenTransaction(connection, "LOCK TABLE accounts")
      let before = store.statistics.exchanges
      let areRight = try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<1_000 {
          let (account, scope) = queries[index % queries.count]
          let expected = alone[index % queries.count]
          group.addTask {
            let customer = try await store.customer(.account(account), in: scope, .primary)
            return Self.inOneOrder(customer) == Self.inOneOrder(expected)
          }
        }
        try await eventually { store.statistics.waitingReads == 998 }
        await blocker.end()
        return try await group.reduce(into: true) { $0 = $0 && $1 }
      }
      #expect(areRight)
      // Two that found nobody before them, 998 by sixteen, and what merged names lead to; the last
      // may not be counted yet.
      #expect((64...200).contains(store.statistics.exchanges - before + 1))
      await store.close()
    }
  }

  private static func inOneOrder(_ customer: StoredCustomer) -> StoredCustomer {
    var customer = customer
    customer.record.facts.sort { "\($0.key)" < "\($1.key)" }
    return customer
  }

  @Test("What the database refuses for one reader it answers for the others")
  func refusedAlone() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) { $0.readingConnections = 1 }
      try await store.submit("1", "1", by: "alice")
      let outcomes = await withTaskGroup(of: (Bool, Result<Int64, StoreError>).self) { group in
        for number in 0..<200 {
          // No text of PostgreSQL's has a NUL.
          let isRefused = number.isMultiple(of: 10)
          group.addTask {
            do throws(StoreError) {
              let customer = try await store.customer(
                .account(isRefused ? "a\u{0}b" : "alice"), in: StoreSample.scope, .primary)
              return (isRefused, .success(customer.record.revision))
            } catch {
              return (isRefused, .failure(error))
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for (isRefused, outcome) in outcomes {
        switch outcome {
        case .success(let revision): #expect(!isRefused && revision > 0)
        case .failure(let failure): #expect(isRefused, "\(failure)")
        }
      }
      await store.close()
    }
  }

  @Test("Beyond the bound readers are turned away at once, and the others answered")
  func bound() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) {
        $0.readingConnections = 1
        $0.maximumWaitingReads = 10
      }
      try await store.submit("1", "1", by: "alice")
      let codes = await withTaskGroup(of: StoreError.Code?.self) { group in
        for _ in 0..<500 {
          group.addTask {
            do throws(StoreError) {
              _ = try await store.customer(.account("alice"), in: StoreSample.scope, .primary)
              return nil
            } catch {
              return error.code
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes.contains(nil))
      #expect(codes.allSatisfy { $0 == nil || $0 == .unavailable })
      #expect(store.statistics.waitingReads == 0)
      await store.close()
    }
  }
}
