import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// An account that owns more rows than a server with default settings has locks for. Skipped where
// no PostgreSQL server is installed.
@Suite("An account of very many links", .enabled(if: EphemeralPostgres.isAvailable))
struct LargeAccountTests {
  private static let links = 20_000

  @Test("is merged, written and deleted while others write", .timeLimit(.minutes(15)))
  func lives() async throws {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    // 64 locks for each of 40 connections.
    options.settings = ["max_connections": "40", "max_locks_per_transaction": "64"]
    let cluster = try EphemeralPostgres.start(options)
    let connection = try await cluster.makeMigratedDatabase()
    let store = try await TestDatabases.openPatient(connection)
    let other = try await TestDatabases.openPatient(connection)
    try await fill(store)
    #expect(try await store.links(of: "large", in: StoreSample.scope).count == Self.links)

    let merged = try await Self.writing(through: other) {
      try await store.done(.merge("large", into: "larger"))
    }
    #expect(merged.targets.count == Self.links)
    try await store.submit("new", "new", by: "large")
    let record = try await other.customer(.account("large"), in: StoreSample.scope).record
    #expect(record.accountID == "larger")
    #expect(record.facts.count == Self.links + 1)

    let deleted = try await Self.writing(through: other) {
      try await store.done(.delete("larger"))
    }
    #expect(deleted.targets.count == Self.links + 1)
    #expect(try await other.customer(.account("large"), in: StoreSample.scope).record.facts == [])
    #expect(
      try await other.customer(.originalTransaction("chain-7"), in: StoreSample.scope).subject
        == .unlinkedChain(StoreSample.scope, "chain-7"))
    // Names all chains in one submission, as an import does.
    let again = try await store.commit(
      StoreSample.submission(
        try (0..<Self.links / 4).map { try Self.transaction($0) }, by: "heir"))
    #expect(again.links == [LinkOutcome](repeating: .linked, count: Self.links / 4))
    await other.close()
    await store.close()
  }

  private func fill(_ store: PostgresStore) async throws {
    let size = 500
    for first in stride(from: 0, to: Self.links, by: size) {
      _ = try await store.commit(
        StoreSample.submission(
          try (first..<first + size).map { try Self.transaction($0) }, by: "large"))
    }
  }

  private static func transaction(_ number: Int) throws -> SignedFact {
    try StoreSample.transaction("\(number)", "chain-\(number)")
  }

  /// Runs `body` while another task writes continuously.
  private static func writing<Value: Sendable>(
    through store: PostgresStore, _ body: () async throws -> Value
  ) async throws -> Value {
    let writer = Task {
      var number = 0
      while !Task.isCancelled {
        number += 1
        try await store.submit("other-\(number)", "other-\(number)", by: "other")
      }
    }
    let value: Value
    do {
      value = try await body()
    } catch {
      writer.cancel()
      throw error
    }
    writer.cancel()
    try await writer.value
    return value
  }
}

extension EntitlementStore {
  fileprivate func done(_ change: LinkRequest.Change) async throws -> LinkReceipt {
    let answer = try await perform(
      LinkRequest(
        scope: StoreSample.scope, change: change, onBehalfOf: "otto", reason: "a ticket", at: 8_000,
        catalog: StoreSample.catalog()))
    guard case .done(let receipt) = answer else { throw NeverHappened("refused: \(answer)") }
    return receipt
  }
}
