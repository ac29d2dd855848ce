import EntitlementDomain
import EntitlementStore
import TestSupport

extension StoreConformanceSuite {
  static let mergeCases = [
    ConformanceCase("Dispositions are in the order of the facts") { store, _ in
      let first = TransactionSample("1", "1")
      let receipt = try await store.submit([
        first.signed(), first.signed(), first.with { $0.signedAt = 2_000 }.signed(),
        first.with { $0.signedAt = 1_500 }.signed(), RenewalSample("1").signed(),
        AppTransactionSample("900").signed(),
      ])
      try expectEqual(
        receipt.dispositions, [.added, .duplicate, .replaced, .superseded, .added, .added])
      let again = try await store.submit([
        first.with { $0.signedAt = 2_000 }.signed(), first.signed(),
        RenewalSample("1").signed(), AppTransactionSample("900").signed(),
      ])
      try expectEqual(again.dispositions, [.duplicate, .superseded, .duplicate, .duplicate])
    },

    ConformanceCase("The standing version is the same in every order of arrival (R3, R5)") {
      store, _ in
      let base = TransactionSample("1", "1")
      let versions = [
        base.with { $0.signedAt = 3_000 },
        base.with {
          $0.signedAt = 3_000; $0.storefront = "DEU"
        },
        base.with {
          $0.signedAt = 3_000; $0.isUpgraded = true
        },
        base.with {
          $0.signedAt = 3_000; $0.isRevoked = true
        },
        base.with {
          $0.signedAt = 2_000; $0.isRevoked = true; $0.isUpgraded = true
        },
      ]
      try await expectOneOutcome(of: versions.permutations(), in: store)
    },

    ConformanceCase("The latest renewal info and app transaction win in every order (R3)") {
      store, _ in
      let moments: [Int64] = [1_000, 2_000, 2_000, 3_000]
      let renewals = moments.enumerated().map { index, moment in
        RenewalSample("1").with {
          $0.signedAt = moment; $0.autoRenews = index.isMultiple(of: 2)
        }
      }
      try await expectOneOutcome(of: renewals.permutations(), in: store)
      let appTransactions = [Int64(1_000), 3_000, 2_000].map { moment in
        AppTransactionSample("900").with { $0.signedAt = moment }
      }
      try await expectOneOutcome(of: appTransactions.permutations(), in: store)
    },

    ConformanceCase("Order, repeats and batches of many facts do not change the result (R3)") {
      store, _ in
      var random = SeededRandom(for: "Order, repeats and batching")
      var samples: [TransactionSample] = []
      for number in 0..<40 {
        let id = String(number % 11)
        samples.append(
          TransactionSample(id, "1").with {
            $0.signedAt = Int64.random(in: 1...5, using: &random)
            $0.isRevoked = Bool.random(using: &random)
            $0.isUpgraded = Bool.random(using: &random)
            $0.storefront = Bool.random(using: &random) ? "USA" : "DEU"
          })
      }
      let orders = (0..<12).map { _ in (samples + samples.prefix(9)).shuffled(using: &random) }
      try await expectOneOutcome(
        of: orders, in: store, batch: { Int.random(in: 1...9, using: &random) })
    },

    ConformanceCase("App transactions without an id are distinguished by their content") {
      store, _ in
      let receipt = try await store.submit(
        [
          AppTransactionSample(nil).signed(),
          AppTransactionSample(nil).with { $0.signedAt = 2_000 }.signed(),
        ], by: "alice")
      try expectEqual(receipt.dispositions, [.added, .added])
      try expectEqual(try await store.customer(.account("alice")).record.facts.count, 2)
    },
  ]

  /// Stores each order in its own scope, in batches, and expects the greatest version of each fact
  /// to win in every scope.
  private static func expectOneOutcome<Sample: FactSample>(
    of orders: [[Sample]], in store: any EntitlementStore, batch: () -> Int = { 1 }
  ) async throws {
    for (number, order) in orders.enumerated() {
      let scope = AppScope(
        bundleID: BundleID("com.example.\(Sample.self).\(number)"), environment: .sandbox)
      let facts = try order.map { sample in
        var sample = sample
        sample.scope = scope
        return try sample.signed()
      }
      var rest = facts[...]
      while !rest.isEmpty {
        let size = batch()
        try await store.submit(Array(rest.prefix(size)), by: "alice")
        rest = rest.dropFirst(size)
      }
      let standing = Dictionary(grouping: facts.map(\.fact), by: \.key)
        .compactMapValues { $0.max { $0.precedence < $1.precedence } }
      let stored = try await store.customer(.account("alice"), in: scope)
      try expectEqual(Set(stored.record.facts), Set(standing.values), "facts of order \(number)")
      try expectEqual(stored.record.facts.count, standing.count, "number of facts")
    }
  }
}

extension Array {
  func permutations() -> [[Element]] {
    guard count > 1 else { return [self] }
    return indices.flatMap { index -> [[Element]] in
      var rest = self
      let first = rest.remove(at: index)
      return rest.permutations().map { [first] + $0 }
    }
  }
}
