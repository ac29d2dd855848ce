import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Testing

@testable import AppStoreRecovery

@Suite("What the recovery counts")
struct RecoveryCountersTests {
  private func values(_ counters: RecoveryCounters) -> [String: Int64] {
    Dictionary(
      uniqueKeysWithValues: counters.values(RecoveryLimits()).map { ($0.name, $0.value) })
  }

  @Test func `attempts are counted by kind and outcome, and all are there from the start`() {
    let counters = RecoveryCounters()
    let attempts = values(counters).filter { $0.key.hasPrefix("jobs.attempts.") }
    #expect(attempts.count == 15 && attempts.values.allSatisfy { $0 == 0 })
    counters.began()
    counters.began()
    counters.ended(.refetch, .givenUp)
    let after = values(counters)
    #expect(after["jobs.attempts.refetch.given_up"] == 1)
    #expect(after["jobs.attempts.reconciliation.given_up"] == 0)
    #expect(after["jobs.running"] == 1 && after["jobs.running_limit"] == 8)
  }

  @Test func `the earliest moment is in seconds, and absent without an open job`() {
    let counters = RecoveryCounters()
    counters.counted(AppStoreJobCounts(open: 3, givenUp: 2, earliestDue: 1_772_366_400_999))
    let open = values(counters)
    #expect(open["jobs.open"] == 3 && open["jobs.given_up"] == 2)
    #expect(open["jobs.counted_limit"] == 10_000)
    #expect(open["jobs.earliest_due_seconds"] == 1_772_366_400)
    counters.counted(AppStoreJobCounts(givenUp: 2))
    let idle = values(counters)
    #expect(idle["jobs.open"] == 0 && idle["jobs.earliest_due_seconds"] == nil)
  }

  @Test func `rows of imports are counted by how their attempts ended`() {
    let counters = RecoveryCounters()
    for _ in 0..<5 { counters.importBegan() }
    for outcome in [.done, .done, .failed, .waiting, nil] as [AccountImportRow.State?] {
      #expect(counters.importing > 0)
      counters.importEnded(outcome)
    }
    counters.counted(AppStoreJobCounts(), waitingRows: 7)
    let values = values(counters)
    #expect(values["imports.rows.done"] == 2 && values["imports.rows.failed"] == 1)
    #expect(values["imports.rows.repeated"] == 1 && values["imports.rows.lost"] == 1)
    #expect(values["imports.running"] == 0 && values["imports.running_limit"] == 64)
    #expect(values["imports.waiting"] == 7 && values["imports.waiting_limit"] == 100_000)
  }

  @Test func `every way in which a call ends has its value`() {
    let values = AppStoreServerStatistics().values
    let names = values.map(\.name)
    #expect(Set(names).count == names.count)
    let outcomes = names.filter { $0.hasPrefix("app_store_api.calls.") }
      .map { String($0.dropFirst("app_store_api.calls.".count)) }
    #expect(
      outcomes == [
        "ok", "invalid_request", "unsupported_environment", "no_key", "key_unusable", "refused",
        "unauthorized", "rate_limited", "unreachable", "deadline_exceeded", "invalid_response",
        "response_too_long", "endless_pages", "busy", "shut_down", "cancelled",
      ])
    #expect(values.allSatisfy { $0.value == 0 })
  }
}
