import EntitlementDomain
import EntitlementStore

// Published transactions are replayed, so the number of claims from other accounts in a day is
// limited (R44).
extension StoreConformanceSuite {
  private static let start: Milliseconds = 10_000

  private static func catalog(_ policy: LinkPolicy = .transfer, claimsPerDay: Int = 3) -> Catalog {
    var catalog = PolicySample.catalog(policy)
    catalog.apps[readerScope.bundleID]?.claimsPerDay = claimsPerDay
    return catalog
  }

  static let claimLimitCases = [
    ConformanceCase("Claims beyond the limit are refused and do not name the owner (R44)") {
      store, _ in
      try await giveAlice(1...5, in: store)
      for number in 1...3 {
        try expectEqual(try await claim(number, at: start, in: store).links, [.transferred])
      }
      let feed = try await store.feed()
      let receipt = try await claim(4, at: start.advanced(by: 1_000), in: store)
      try expectEqual(
        receipt,
        CommitReceipt(
          dispositions: [.duplicate], links: [.claimLimited], customers: [], changed: [],
          latest: 0, notificationWasKnown: false))
      try expectEqual(try await store.account(of: "4"), "alice")
      try expectEqual(try await store.feed(), feed)
      // Facts of a refused claim are stored for the owner.
      let news = try await store.submit(
        TransactionSample("40", "4"), by: "bob", at: start, under: catalog())
      try expectEqual(news.links, [.claimLimited])
      try expectEqual(news.changed, [account("alice")])
      try expectEqual(news.customers, [])
    },

    ConformanceCase("Claims of own chains are unlimited, and the limit is per account (R44)") {
      store, _ in
      try await giveAlice(1...5, in: store)
      for number in 1...3 { try await claim(number, at: start, in: store) }
      for number in 1...3 {
        try expectEqual(try await claim(number, at: start, in: store).links, [.unchanged])
      }
      // Linking an unlinked chain is no claim.
      let first = try await store.submit(
        TransactionSample("9", "9"), by: "bob", at: start, under: catalog())
      try expectEqual(first.links, [.linked])
      try expectEqual(
        try await claim(4, by: "carol", at: start, in: store).links, [.transferred])
      try expectEqual(try await claim(5, at: start, in: store).links, [.claimLimited])
    },

    ConformanceCase("A day after the first granted claim the full limit is available again (R44)") {
      store, _ in
      try await giveAlice(1...8, in: store)
      let day = Milliseconds.dayLength
      let steps: [(Int, Int64, LinkOutcome)] = [
        (1, 0, .transferred), (2, day - 2, .transferred), (3, day - 1, .transferred),
        (4, day - 1, .claimLimited), (4, day, .transferred), (5, day + 1, .transferred),
        (6, day + 2, .transferred), (7, 2 * day - 1, .claimLimited), (7, 2 * day, .transferred),
      ]
      for (number, offset, outcome) in steps {
        let receipt = try await claim(number, at: start.advanced(by: offset), in: store)
        try expectEqual(receipt.links, [outcome], "claim of \(number) after \(offset) ms")
      }
    },

    ConformanceCase("Claims that the policy refuses do not count (R44)") { store, _ in
      try await giveAlice(1...5, in: store)
      for number in 1...5 {
        let receipt = try await store.submit(
          TransactionSample("\(number)", "\(number)"), by: "bob", at: start, under: catalog(.keep))
        try expectEqual(receipt.links, [.alreadyLinked])
      }
      for number in 1...3 {
        try expectEqual(try await claim(number, at: start, in: store).links, [.transferred])
      }
    },

    ConformanceCase("One submission is granted as many claims as the limit leaves (R44)") {
      store, _ in
      try await giveAlice(1...5, in: store)
      try await claim(1, at: start, in: store)
      let receipt = try await store.submit(
        (2...5).map { try TransactionSample("\($0)", "\($0)").signed() }, by: "bob", at: start,
        under: catalog())
      try expectEqual(
        receipt.links, [.transferred, .transferred, .claimLimited, .claimLimited])
      try expectEqual(
        try await store.links(of: "bob"), [.chain("1"), .chain("2"), .chain("3")])
    },

    ConformanceCase("Requests by name do not count as claims and are not limited (R46)") {
      store, _ in
      try await giveAlice(1...6, in: store)
      for number in 1...6 where number.isMultiple(of: 2) {
        try await store.done(
          .transfer(.chain(OriginalTransactionID("\(number)")), from: "alice", to: "bob"),
          at: start)
      }
      for number in [1, 3, 5] {
        try expectEqual(try await claim(number, at: start, in: store).links, [.transferred])
      }
      try await giveAlice(7...7, in: store)
      try expectEqual(try await claim(7, at: start, in: store).links, [.claimLimited])
      try await store.done(.transfer(.chain("7"), from: "alice", to: "bob"), at: start)
    },

    ConformanceCase("Concurrent claims are granted up to the limit (R44, R45)") {
      store, _ in
      try await giveAlice(1...16, in: store)
      let outcomes = try await withThrowingTaskGroup(of: LinkOutcome?.self) { group in
        for number in 1...16 {
          group.addTask { try await claim(number, at: start, in: store).links.first }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try expectEqual(outcomes.count { $0 == .transferred }, 3, "granted")
      try expectEqual(outcomes.count { $0 == .claimLimited }, 13, "limited")
      try expectEqual(try await store.links(of: "bob").count, 3)
      try expectEqual(try await store.links(of: "alice").count, 13)
    },
  ]

  private static func giveAlice(_ numbers: ClosedRange<Int>, in store: any EntitlementStore)
    async throws
  {
    try await store.submit(
      numbers.map { try TransactionSample("\($0)", "\($0)").signed() }, by: "alice")
  }

  @discardableResult
  private static func claim(
    _ number: Int, by claimer: AccountID = "bob", at: Milliseconds,
    in store: any EntitlementStore
  ) async throws -> CommitReceipt {
    try await store.submit(
      TransactionSample("\(number)", "\(number)"), by: claimer, at: at, under: catalog())
  }
}
