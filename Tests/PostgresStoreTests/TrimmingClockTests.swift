import EntitlementDomain
import EntitlementStore
import Foundation
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("The clock by which the feed is trimmed", .enabled(if: EphemeralPostgres.isAvailable))
struct TrimmingClockTests {
  private static let day: Int64 = 86_400_000
  private static let retention = Duration.seconds(30 * 86_400)

  @Test(
    "A node with a wrong clock trims nothing and says so; the others trim by the database's clock",
    .timeLimit(.minutes(2)), arguments: [31, -31, 4, -4])
  func wrongClock(days: Int64) async throws {
    let store = try await TestDatabases.open(try await TestDatabases.make())
    let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000))
    func submit(_ number: String, _ moment: Milliseconds) async throws {
      let fact = try StoreSample.transaction(number, number)
      _ = try await store.commit(StoreSample.submission([fact], by: "alice", at: moment))
    }
    try await submit("1", now.advanced(by: -31 * Self.day))
    try await submit("2", now.advanced(by: -29 * Self.day))
    try await submit("3", now)

    let doubt = try await trim(store, by: now.advanced(by: days * Self.day))
    #expect(doubt?.contains("deletes no entries") == true)
    #expect(try await store.changes(after: 0, limit: 10).count == 3)
    // Seconds, or a day, are plausible.
    for plausible in [now, now.advanced(by: Self.day), now.advanced(by: -Self.day)] {
      #expect(try await trim(store, by: plausible) == nil)
      #expect(try await store.changes(after: 0, limit: 10).count == 2)
    }
    await store.close()
  }

  /// What a node does whose clock shows this time.
  ///
  /// - Returns: what it logs as an error.
  private func trim(_ store: PostgresStore, by clock: Milliseconds) async throws -> String? {
    let time = try await store.trimmingTime(
      clock: clock, elapsed: .zero, retention: Self.retention)
    if let now = time.now {
      _ = try await store.trimChanges(
        committedBefore: now.advanced(by: -Self.retention.wholeMilliseconds), now: now, limit: 100)
    }
    return time.doubt
  }
}
