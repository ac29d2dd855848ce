import EntitlementDomain
import TestSupport

@testable import Wire

extension JobEntry {
  static func random(using generator: inout SeededRandom) -> JobEntry {
    JobEntry(
      jobID: .random(in: .min ... .max, using: &generator),
      kind: maybe(using: &generator) { JobKind.allCases.randomElement(using: &$0)! },
      scope: .random(using: &generator),
      originalTransactionID: maybe(using: &generator) { .random(using: &$0) },
      state: maybe(using: &generator) { JobState.allCases.randomElement(using: &$0)! },
      reasons: many(using: &generator) { RefetchReason.allCases.randomElement(using: &$0)! },
      openedAt: .random(using: &generator), changedAt: .random(using: &generator),
      dueAt: maybe(using: &generator) { .random(using: &$0) },
      isRunning: .random(using: &generator), failures: .random(in: 0...100, using: &generator),
      lastFailure: maybe(using: &generator, randomText),
      since: maybe(using: &generator) { .random(using: &$0) },
      completeUntil: maybe(using: &generator) { .random(using: &$0) },
      calls: .random(in: .min ... .max, using: &generator),
      payloads: .random(in: .min ... .max, using: &generator),
      added: .random(in: .min ... .max, using: &generator),
      refused: .random(in: .min ... .max, using: &generator),
      transactionID: maybe(using: &generator) { .random(using: &$0) })
  }
}

extension ListJobsRequest {
  static func random(using generator: inout SeededRandom) -> ListJobsRequest {
    ListJobsRequest(
      bundleID: maybe(using: &generator) { .random(using: &$0) },
      environment: maybe(using: &generator) {
        StoreEnvironment.allCases.randomElement(using: &$0)!
      },
      state: maybe(using: &generator) { JobState.allCases.randomElement(using: &$0)! },
      kind: maybe(using: &generator) { JobKind.allCases.randomElement(using: &$0)! },
      originalTransactionID: maybe(using: &generator) { .random(using: &$0) },
      jobID: maybe(using: &generator) { .random(in: 1 ... .max, using: &$0) },
      pageSize: .random(in: 0...5_000, using: &generator),
      pageToken: maybe(using: &generator, randomText))
  }
}
