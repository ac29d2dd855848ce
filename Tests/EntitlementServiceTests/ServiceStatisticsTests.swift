import EntitlementDomain
import EntitlementService
import Testing
import Verification

@Suite("Metrics")
struct ServiceStatisticsTests {
  @Test("All counters are listed from the start, with unique names, sorted by name")
  func all() async throws {
    try await ServiceBench.run { bench async throws in
      let statistics = ServiceStatistics([
        { bench.counters.values }, { bench.reader.statistics.values },
      ])
      statistics.add { bench.pool.statistics.values }
      let names = statistics.values.map(\.name)
      #expect(names == names.sorted())
      #expect(Set(names).count == names.count)
      let limits = statistics.values.filter {
        $0.name.contains("_limit") || $0.name == "verification.workers"
      }
      #expect(limits.allSatisfy { $0.value > 0 })
      #expect(statistics.values.allSatisfy { $0.value == 0 || limits.contains($0) })
      #expect(names.contains("submissions.refused.INVALID_SIGNATURE"))
      #expect(names.contains("notifications.status_mismatch"))

      _ = try await bench.submit([try bench.purchase(), "garbage"], account: "anna")
      _ = try await bench.state(of: "anna")
      let values = Dictionary(
        uniqueKeysWithValues: statistics.values.map { ($0.name, $0.value) })
      #expect(values["submissions.facts.ADDED"] == 1)
      #expect(values["submissions.links.LINKED"] == 1)
      #expect(values["submissions.refused.MALFORMED"] == 1)
      #expect(values["cache.misses"] == 1)
      #expect(values["cache.entries"] == 1)
      #expect(values["verification.verdicts.OK"] == 1)
    }
  }
}
