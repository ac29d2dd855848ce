import EntitlementDomain
import EntitlementStore
import LoadClient
import PostgresBulkLoader
import PostgresStore
import StoreSimulator
import Synchronization

/// First purchases of new customers, submitted to a store: durable when it answers. The facts are
/// decoded before, since the store is measured and not verification.
struct SubmissionLoad {
  let store: PostgresStore
  let submissions: [Submission]

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The index of the first customer after those of a population of any size.
  private static let firstIndex = 90_000_000

  /// The life cycles alternate among the customers; the first one starts with a purchase.
  private static let cycles = LifeCycle.allCases.count
  private static let firstPurchase = (firstIndex / cycles + 1) * cycles

  /// The number of customers that earlier runs have added to a database.
  static func used(in database: BenchmarkDatabase) throws -> Int {
    let first = BulkCustomers.account(at: firstPurchase).rawValue
    let count = try database.psql.number(
      "SELECT count(*) FROM accounts WHERE account >= '\(first)' AND length(account) = \(first.count);"
    )
    return Int(count)
  }

  /// One transaction each, for an account.
  ///
  /// - Parameter skipped: the number of customers of earlier runs.
  static func submissions(
    of customers: BulkCustomers, count: Int, after skipped: Int
  ) throws -> [Submission] {
    try (0..<count).map { number in
      var submission = try customers.submission(at: firstPurchase + (skipped + number) * cycles)
      submission.facts = submission.facts.filter { $0.fact.kind == .transaction }
      guard submission.facts.count == 1 else {
        throw Failure(description: "a first purchase has more than one transaction")
      }
      return submission
    }
  }

  /// - Returns: the duration in seconds.
  func run(inFlight: Int) async throws -> Double {
    let next = Position()
    let started = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<inFlight {
        group.addTask {
          while let index = next.take(below: submissions.count) {
            let receipt = try await store.commit(submissions[index])
            guard receipt.dispositions == [.added], receipt.links == [.linked] else {
              throw Failure(description: "a new purchase was not stored as new")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    return (ContinuousClock.now - started) / .seconds(1)
  }

  /// The index of the next submission.
  private final class Position: Sendable {
    private let number = Mutex(0)

    func take(below count: Int) -> Int? {
      number.withLock { number in
        guard number < count else { return nil }
        defer { number += 1 }
        return number
      }
    }
  }
}
