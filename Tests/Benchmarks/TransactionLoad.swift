import EntitlementDomain
import Verification

/// Transactions in batches, as SubmitSignedTransactions gets them.
struct TransactionLoad: VerifyLoad {
  struct Refused: Error {}

  let workers: Int
  private let pool: VerificationPool
  private let batches: [[VerificationPool.Item]]

  private static let batchSize = 100

  init(_ transactions: SignedTransactions, workers: Int) {
    self.workers = workers
    pool = VerificationPool(verifier: JWSVerifier(anchors: transactions.anchors), width: workers)
    batches = stride(from: 0, to: transactions.items.count, by: Self.batchSize).map {
      Array(transactions.items[$0..<min($0 + Self.batchSize, transactions.items.count)])
    }
  }

  func run(until end: ContinuousClock.Instant) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      // Two callers for each worker: the next batch waits while one is verified.
      for caller in 0..<2 * workers {
        group.addTask { try await submit(from: caller * 3, until: end) }
      }
      return try await group.reduce(0, +)
    }
  }

  private func submit(from first: Int, until end: ContinuousClock.Instant) async throws -> Int {
    var verified = 0
    var next = first
    repeat {
      let results = try await pool.run(
        batches[next % batches.count], policy: SignedTransactions.policy,
        now: SignedTransactions.signedDate)
      for result in results {
        guard case .success = result else { throw Refused() }
      }
      verified += results.count
      next += 1
    } while ContinuousClock.now < end
    return verified
  }
}
