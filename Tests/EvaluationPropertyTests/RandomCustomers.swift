import EntitlementDomain
import TestSupport
import Testing

/// What a property says of one customer: nil when it holds, else what was found.
typealias Property = (inout RandomCustomer) throws -> String?

enum RandomCustomers {
  /// How many a property must hold for.
  static let count = 10_000
  /// After so many failures the rest would tell nothing new.
  private static let failureLimit = 3

  /// Holds a property to thousands of random customers. `TEST_SEED` set to a seed that a failure
  /// names begins with that customer.
  static func expect(
    _ name: String, count: Int = count, sourceLocation: SourceLocation = #_sourceLocation,
    _ property: Property
  ) throws {
    let first = SeededRandom(for: name).seed
    var failures = 0
    for index in Rounds(count, of: name) {
      var customer = RandomCustomer(seed: first &+ UInt64(index))
      guard let found = try property(&customer) else { continue }
      Issue.record(
        "\(name): TEST_SEED=\(customer.seed): \(found)", sourceLocation: sourceLocation)
      failures += 1
      if failures == failureLimit { return }
    }
  }
}
