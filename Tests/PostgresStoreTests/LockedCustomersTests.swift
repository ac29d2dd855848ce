import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "Customers that others have locked", .enabled(if: EphemeralPostgres.isAvailable),
  .timeLimit(.minutes(2)))
struct LockedCustomersTests {
  private static let stuck = (0..<9).map { AccountID("stuck-\($0)") }

  @Test(
    "More of them than connections that write: writes of all others are answered meanwhile",
    arguments: [2, 4])
  func othersGoOn(lanes: Int) async throws {
    let connection = try await TestDatabases.make()
    let store = try await TestDatabases.open(connection) {
      $0.writingConnections = lanes
      $0.lockTimeLimit = .milliseconds(400)
      $0.firstLockWait = .milliseconds(50)
      // Nobody is freed by giving up.
      $0.writeTimeLimit = .seconds(90)
    }
    let holder = try await OpenTransaction(connection, locking: Self.stuck, in: store)
    try await withThrowingTaskGroup(of: Void.self) { group in
      // Two writes of each.
      for (number, account) in (Self.stuck + Self.stuck).enumerated() {
        group.addTask {
          try await store.submit("stuck-\(number)", "stuck-\(number)", by: account)
        }
      }
      try await eventually { store.waitingWrites == 18 }
      // Those that share transactions with them, and those that come when they are known.
      for wave in 0..<3 {
        let time = try await ContinuousClock().measure { try await submitOthers(wave, to: store) }
        // Two waits of lanes and three turns of the stuck ones; twice that, as machines are busy.
        #expect(time < .seconds(5), "wave \(wave)")
      }
      try await eventually { store.waitingWrites == 18 }
      await holder.end()
      try await group.waitForAll()
    }
    for account in Self.stuck {
      let found = try await store.customer(.account(account), in: StoreSample.scope, .primary)
      #expect(found.record.facts.count == 2)
    }
    await store.close()
  }

  private func submitOthers(_ wave: Int, to store: PostgresStore) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<24 {
        group.addTask {
          let id = "\(wave)-\(number)"
          try await store.submit(id, id, by: AccountID("other-\(id)"))
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("Those that stay locked are told so, and can be written once they are free")
  func failure() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) {
        $0.lockTimeLimit = .milliseconds(200)
        $0.writeTimeLimit = .seconds(1)
      }
      let holder = try await OpenTransaction(connection, locking: Self.stuck, in: store)
      let failures = await withTaskGroup(of: StoreError?.self) { group in
        for account in Self.stuck {
          group.addTask {
            await #expect(throws: StoreError.self) {
              try await store.submit(account.rawValue, account.rawValue, by: account)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for failure in failures {
        #expect(failure?.code == .unavailable)
        #expect(failure?.message.contains("keeps locked what is wanted") == true)
      }
      await holder.end()
      for account in Self.stuck {
        let receipt = try await store.submit(account.rawValue, account.rawValue, by: account)
        #expect(receipt.dispositions == [.added])
      }
      await store.close()
    }
  }
}
