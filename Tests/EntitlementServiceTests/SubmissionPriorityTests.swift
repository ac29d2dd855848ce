import EntitlementDomain
import EntitlementService
import StoreSimulator
import TestSupport
import Testing
import Workers
import Verification

@Suite("Priorities of submissions")
struct SubmissionPriorityTests {
  private typealias Bench = ServiceBench

  @Test("Each kind of submission is verified with its requested priority")
  func counted() async throws {
    try await Bench.run(catalog: ArchiveImportTests.catalog) { bench async throws in
      let events = try bench.signed(.firstPurchase)
      let facts = events.flatMap(\.facts).map { Array($0.utf8) }
      let notification = try #require(events.compactMap(\.notification).first)
      let receipt = try bench.signed(Bench.receipt(["1"]))
      for (priority, expected) in [(WorkPriority.interactive, 0), (.bulk, facts.count + 2)] {
        _ = try await bench.service.submit(
          TransactionSubmission(signedPayloads: facts, priority: priority))
        _ = try await bench.service.submit(
          NotificationSubmission(signedPayload: Array(notification.utf8), priority: priority))
        _ = try await bench.service.submit(
          ReceiptSubmission(receipt: receipt, priority: priority))
        // A worker counts a piece after it has delivered the result.
        try await eventually { bench.pool.statistics.work.bulk.done == expected }
        try await eventually { bench.pool.statistics.work.interactive.done == facts.count + 2 }
      }
      _ = try await bench.importArchive(Bench.receipt(["2"]))
      try await eventually { bench.pool.statistics.work.bulk.done == facts.count + 3 }
    }
  }

  @Test("Metrics are separate for each priority")
  func figures() async throws {
    try await Bench.run { bench async throws in
      _ = try await bench.service.submit(
        TransactionSubmission(
          signedPayloads: [Array(try bench.purchase().utf8)], priority: .bulk))
      // A worker counts a piece after it has delivered the result.
      try await eventually { bench.pool.statistics.work.bulk.done == 1 }
      let values = Dictionary(
        uniqueKeysWithValues: bench.pool.statistics.values.map { ($0.name, $0.value) })
      #expect(values["verification.done"] == 1)
      #expect(values["verification.done.bulk"] == 1)
      #expect(values["verification.done.interactive"] == 0)
      #expect(values["verification.pieces.bulk"] == 1)
      let working = try #require(values["verification.working_microseconds.bulk"])
      #expect(working > 0)
      #expect(values["verification.working_microseconds.interactive"] == 0)
      #expect(values["verification.waiting_microseconds.bulk"] != nil)
    }
  }
}
