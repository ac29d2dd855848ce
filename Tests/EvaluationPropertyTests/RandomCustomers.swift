import EntitlementDomain
import TestSupport
import Testing

/// Checks a property on one customer. Nil when it holds, or else a description of the failure.
typealias Property = (inout RandomCustomer) throws -> String?

enum RandomCustomers {
  /// The number of customers for which a property must hold.
  static let count = 10_000
  /// The number of failures after which a property stops.
  private static let failureLimit = 3

  /// Checks a property on thousands of random customers. `TEST_SEED` set to the seed of a failure
  /// starts with that customer.
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
