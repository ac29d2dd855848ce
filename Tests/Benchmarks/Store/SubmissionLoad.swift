import EntitlementDomain
import EntitlementStore
import LoadClient
import PostgresStore
import StoreSimulator
import Synchronization

/// First purchases of new customers through a store: durable when it answers. The facts are made and
/// decoded before, as the store is measured and not verification.
struct SubmissionLoad {
  let store: PostgresStore
  let submissions: [Submission]

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The first customer that is not loaded in bulk, of any size.
  private static let firstIndex = 90_000_000

  /// Customers are in turn in each of the life cycles; the first of these is a first purchase.
  private static let cycles = LifeCycle.allCases.count
  private static let firstPurchase = (firstIndex / cycles + 1) * cycles

  /// How many earlier runs have left in a database.
  static func used(in database: BenchmarkDatabase) throws -> Int {
    let first = BulkCustomers.account(at: firstPurchase).rawValue
    let count = try database.psql.number(
      "SELECT count(*) FROM accounts WHERE account >= '\(first)' AND length(account) = \(first.count);"
    )
    return Int(count)
  }

  /// One transaction each, under an account.
  ///
  /// - Parameter skipped: how many customers were used before.
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

  /// - Returns: how long it took, in seconds.
  func run(inFlight: Int) async throws -> Double {
    let next = Position()
    let started = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<inFlight {
        group.addTask {
          while let index = next.take(below: submissions.count) {
            let receipt = try await store.commit(submissions[index])
            guard receipt.dispositions == [.added], receipt.links == [.linked] else {
              throw Failure(description: "a new purchase was not kept as such")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    return (ContinuousClock.now - started) / .seconds(1)
  }

  /// Which submission is next.
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
