import EntitlementDomain
import EntitlementStore
import TestSupport

// Many accounts want the same chains at once (R41, R45): the result is consistent in every order.
extension StoreConformanceSuite {
  static let chainCount = 6
  static let claimerCount = 24

  static let contentionCases =
    LinkPolicy.allCases.flatMap { policy in
      [true, false].map { isActive in
        ConformanceCase(
          "Under \(policy.rawValue) many claim the same \(isActive ? "" : "ended ")chains (R45)"
        ) { store, _ in
          try await contend(under: policy, isActive: isActive) { _ in store }
        }
      }
    } + [
      ConformanceCase(
        "Of many concurrent merges of an anonymous account, one gets all chains (R45, R75)"
      ) { store, _ in
        let catalog = PolicySample.catalog(.keep)
        let facts = try (0..<chainCount).map { try TransactionSample("\($0)", "\($0)").signed() }
        try await store.submit(facts, by: "anonymous:1", under: catalog)
        let outcomes = try await inParallel(0..<claimerCount) { number in
          // Each starts with another chain.
          let claimed = [facts[number % chainCount], facts[(number + 1) % chainCount]]
          return try await store.submit(
            claimed, by: AccountID("account-\(number)"), anonymous: "anonymous:1",
            under: catalog
          ).links
        }
        try expectEqual(outcomes.count { $0 == [.transferred, .transferred] }, 1, "winners")
        try expectEqual(
          outcomes.count { $0 == [.alreadyLinked, .alreadyLinked] }, claimerCount - 1, "losers")
        let audit = LinkAudit(
          store: store, chains: (0..<chainCount).map { OriginalTransactionID("\($0)") },
          names: (0..<claimerCount).map { AccountID("account-\($0)") } + ["anonymous:1"])
        for history in try await audit.check().values {
          try expectEqual(history.map(\.reason), [.named, .merged])
        }
        try expectEqual(try await store.accountIDs().count, 1, "accounts")
      },

      ConformanceCase("Concurrent claims, transfers, merges and deletions leave consistent links") {
        store, _ in
        try await mix { _ in store }
      },
    ]

  /// Every account claims every chain once. All accounts run concurrently, each in its own order.
  static func contend(
    under policy: LinkPolicy, isActive: Bool,
    on store: @escaping @Sendable (Int) -> any EntitlementStore
  ) async throws {
    var catalog = PolicySample.catalog(policy)
    catalog.apps[readerScope.bundleID]?.claimsPerDay = 1_000
    let facts = try (0..<chainCount).map { number in
      try TransactionSample("\(number)", "\(number)").with { $0.isRevoked = !isActive }.signed()
    }
    let receipts = try await inParallel(0..<claimerCount) { [catalog] claimer in
      var outcomes: [LinkOutcome?] = Array(repeating: nil, count: chainCount)
      for step in 0..<chainCount {
        let chain = (claimer + step) % chainCount
        let receipt = try await store(claimer).submit(
          [facts[chain]], by: AccountID("account-\(claimer)"), under: catalog)
        outcomes[chain] = receipt.links[0]
      }
      return outcomes
    }
    let names = (0..<claimerCount).map { AccountID("account-\($0)") }
    let audit = LinkAudit(
      store: store(0), chains: (0..<chainCount).map { OriginalTransactionID("\($0)") },
      names: names)
    let histories = try await audit.check()
    let isKept = policy == .keep || policy == .transferIfInactive && isActive
    for chain in 0..<chainCount {
      let outcomes = receipts.compactMap { $0[chain] }
      let history = histories[OriginalTransactionID("\(chain)")] ?? []
      try expectEqual(outcomes.count { $0 == .linked }, 1, "first claimers of \(chain)")
      try expectEqual(
        outcomes.count { $0 == (isKept ? .alreadyLinked : .transferred) }, claimerCount - 1,
        "later claimers of \(chain)")
      try expectEqual(history.count, isKept ? 1 : claimerCount, "steps of \(chain)")
      if !isKept { try expectEqual(Set(history.map(\.to)), Set(names), "hands of \(chain)") }
    }
  }

  /// Runs every operation that moves links concurrently. An operation that is impossible at that
  /// moment may be refused.
  ///
  /// - Parameter store: returns the store for a worker's writes.
  static func mix(on store: @escaping @Sendable (Int) -> any EntitlementStore) async throws {
    var catalog = PolicySample.catalog(.transfer)
    catalog.apps[readerScope.bundleID]?.claimsPerDay = 1_000
    let names = (0..<8).map { AccountID("account-\($0)") } + ["anonymous:1", "anonymous:2"]
    let samples = (0..<chainCount).map { number in
      TransactionSample("\(number)", "\(number)").with { $0.token = token(number) }
    }
    try await store(0).submit(samples.map { try $0.signed() })
    let seed = SeededRandom(for: "Links that many change at once").seed
    _ = try await inParallel(0..<16) { [catalog] worker in
      var random = SeededRandom(seed: seed &+ UInt64(worker))
      for _ in 0..<20 {
        let store = store(worker)
        if Bool.random(using: &random) {
          let sample = samples[Int.random(in: 0..<samples.count, using: &random)]
          let name = names[Int.random(in: 0..<names.count, using: &random)]
          try await store.submit([sample.signed()], by: name, under: catalog)
        } else {
          _ = try await store.ask(randomChange(of: samples.map(\.chain), names, &random))
        }
      }
      return 0
    }
    let audit = LinkAudit(store: store(0), chains: samples.map(\.chain), names: names)
    let events = try await audit.check().values.flatMap { $0 }
    // With fewer events the workers hardly met.
    try expect(events.count > 40, "\(events.count) steps in all")
    try expect(Set(events.map(\.reason)).count >= 5, "\(Set(events.map(\.reason)))")
  }

  private static func randomChange(
    of chains: [OriginalTransactionID], _ names: [AccountID], _ random: inout SeededRandom
  ) -> LinkRequest.Change {
    let chain = LinkTarget.chain(chains[Int.random(in: 0..<chains.count, using: &random)])
    let name = names[Int.random(in: 0..<names.count, using: &random)]
    let other = names[Int.random(in: 0..<names.count, using: &random)]
    return switch Int.random(in: 0..<10, using: &random) {
    case 0...1: .unlink(chain)
    case 2...3: .transfer(chain, from: nil, to: name)
    case 4: .transfer(chain, from: name, to: other)
    case 5...6: .link(chain, to: name)
    case 7: .delete(name)
    default: .merge(name, into: other)
    }
  }

  static func inParallel<Value: Sendable>(
    _ numbers: Range<Int>, _ body: @escaping @Sendable (Int) async throws -> Value
  ) async throws -> [Value] {
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
      for number in numbers {
        group.addTask { (number, try await body(number)) }
      }
      let values = try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      return numbers.compactMap { values[$0] }
    }
  }
}
