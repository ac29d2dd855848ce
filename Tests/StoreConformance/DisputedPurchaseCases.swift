import EntitlementDomain
import EntitlementStore

// A replayed transaction moves its purchase a bounded number of times, and its owner is not locked out
// (R93).
extension StoreConformanceSuite {
  private static let catalog: Catalog = {
    var catalog = PolicySample.catalog(.transfer)
    catalog.apps[readerScope.bundleID]?.claimsPerPurchase = 4
    catalog.apps[readerScope.bundleID]?.claimsPerDay = 1
    return catalog
  }()

  private static let sample = TransactionSample("1", "1")

  /// Thieves with a new account each, and the buyer after each of them, until the purchase is disputed.
  private static func quarrel(
    over sample: TransactionSample = sample, in store: any EntitlementStore
  ) async throws {
    try await store.submit(sample, by: "buyer", under: catalog)
    let steps: [(AccountID, LinkOutcome)] = [
      ("thief-1", .transferred), ("buyer", .reclaimed), ("thief-2", .transferred),
      ("buyer", .transferred), ("thief-3", .disputed),
    ]
    for (account, outcome) in steps {
      let receipt = try await store.submit(sample, by: account, under: catalog)
      try expectEqual(receipt.links, [outcome], "\(account)")
    }
  }

  static let disputedPurchaseCases = [
    ConformanceCase("After a bounded number of claims the earlier owner keeps a purchase (R93)") {
      store, _ in
      try await quarrel(in: store)
      try expectEqual(try await store.account(of: "1"), "buyer")
      for number in 4...80 {
        let receipt = try await store.submit(
          sample, by: AccountID("thief-\(number)"), under: catalog)
        try expectEqual(receipt.links, [.disputed])
        try expectEqual(receipt.customers, [], "names nobody")
      }
      try expectEqual(
        try await store.submit(sample, by: "buyer", under: catalog).links, [.unchanged])
      try expectEqual(try await store.history(of: .chain("1")).count, 5)
      try expectEqual(try await store.disputes(), ["1"], "told once")
      try expectEqual(try await store.feed().last { !$0.events.isEmpty }?.subject, nil)
      try expectEqual(
        try await store.links(of: "buyer", in: readerScope).map(\.isContested), [true])
    },

    ConformanceCase("A disputed purchase goes back to the earlier owner, also from a thief (R93)") {
      store, _ in
      try await store.submit(sample, by: "buyer", under: catalog)
      for number in 1...4 {
        let receipt = try await store.submit(
          sample, by: AccountID("thief-\(number)"), under: catalog)
        try expectEqual(receipt.links, [.transferred])
      }
      try expectEqual(
        try await store.submit(sample, by: "thief-5", under: catalog).links, [.disputed])
      try expectEqual(try await store.account(of: "1"), "buyer")
      let last = try unwrap(try await store.history(of: .chain("1")).last, "event")
      try expectEqual(last.reason, .settled)
      try expectEqual([last.from, last.to], ["thief-4", "buyer"])
      // In the place of the fifth thief, the buyer is told.
      let other = TransactionSample("2", "2")
      try await store.submit(other, by: "buyer", under: catalog)
      for number in 6...9 {
        try await store.submit(other, by: AccountID("thief-\(number)"), under: catalog)
      }
      try expectEqual(
        try await store.submit(other, by: "buyer", under: catalog).links, [.reclaimed])
      try expectEqual(
        try await store.submit(other, by: "thief-10", under: catalog).links, [.disputed])
    },

    ConformanceCase("The first claim back is free of the claimer's limit (R93)") { store, _ in
      for number in 1...3 {
        try await store.submit(TransactionSample("\(number)", "\(number)"), by: "buyer")
        try await store.submit(
          TransactionSample("\(number)", "\(number)"), by: AccountID("thief-\(number)"),
          under: catalog)
      }
      for number in 1...3 {
        let receipt = try await store.submit(
          TransactionSample("\(number)", "\(number)"), by: "buyer", under: catalog)
        try expectEqual(receipt.links, [.reclaimed])
      }
      // They were not counted either; the second claim back is an ordinary one.
      try await store.submit(sample, by: "thief-4", under: catalog)
      try expectEqual(
        try await store.submit(sample, by: "buyer", under: catalog).links, [.transferred])
      try await store.submit(TransactionSample("9", "9"), by: "alice")
      try expectEqual(
        try await store.submit(TransactionSample("9", "9"), by: "buyer", under: catalog).links,
        [.claimLimited])
    },

    ConformanceCase(
      "A bound token, then an app transaction, tell whose a disputed purchase is (R93)"
    ) {
      store, _ in
      // The thief was first, with both.
      let bought = sample.with {
        $0.token = token(1); $0.appTransaction = "900"
      }
      try await store.done(.bindToken(token(1), to: "buyer"), under: catalog)
      let other = TransactionSample("2", "2").with { $0.appTransaction = "901" }
      try await store.submit([AppTransactionSample("901").signed()], by: "buyer", under: catalog)
      for sample in [bought, other] {
        for number in 1...5 {
          try await store.submit(sample, by: AccountID("thief-\(number)"), under: catalogOfMany)
        }
        try expectEqual(
          try await store.submit(sample, by: "thief-6", under: catalogOfMany).links, [.disputed])
      }
      try expectEqual(try await store.account(of: "1"), "buyer", "by the token")
      try expectEqual(try await store.account(of: "2"), "buyer", "by the app transaction")
    },

    ConformanceCase(
      "A request by name decides a disputed purchase, and claims count anew (R46, R93)"
    ) {
      store, _ in
      try await quarrel(in: store)
      let confirmed = try await store.done(.link(.chain("1"), to: "buyer"), under: catalog)
      try expectEqual(confirmed.isChanged, true)
      // The account was named: it keeps the purchase when claims are used up again.
      try expectEqual(
        try await store.submit(sample, by: "thief-7", under: catalog).links, [.disputed])
      try await store.done(.transfer(.chain("1"), from: "buyer", to: "heir"), under: catalog)
      try expectEqual(
        try await store.submit(sample, by: "thief-8", under: catalog).links, [.transferred])
      try expectEqual(
        try await store.submit(sample, by: "heir", under: catalog).links, [.reclaimed])
    },

    ConformanceCase("Claims count for 30 days, and by the account that remains after a merge (R93)")
    {
      store, _ in
      let start: Milliseconds = 10_000
      let day = Milliseconds.dayLength
      try await store.submit(sample, by: "buyer", at: start, under: catalog)
      for (number, days) in [1, 2, 3, 4].enumerated() {
        try await store.submit(
          sample, by: AccountID("visitor-\(number)"), at: start.advanced(by: Int64(days) * day),
          under: catalog)
      }
      let month = start.advanced(by: day + ClaimHistory.window)
      try expectEqual(
        try await store.submit(sample, by: "visitor-4", at: month, under: catalog).links,
        [.transferred])
      try await store.done(.merge("buyer", into: "buyer-2"), at: month, under: catalog)
      let receipt = try await store.submit(sample, by: "visitor-5", at: month, under: catalog)
      try expectEqual(receipt.links, [.disputed])
      try expectEqual(try await store.account(of: "1"), "buyer-2")
    },

    ConformanceCase("An app transaction is disputed like a chain (R93)") { store, _ in
      let sample = AppTransactionSample("900")
      try await store.submit([sample.signed()], by: "buyer", under: catalog)
      for number in 1...5 {
        try await store.submit(
          [sample.signed()], by: AccountID("thief-\(number)"), under: catalog)
      }
      try expectEqual(
        try await store.links(of: "buyer", in: readerScope).map(\.target), [.appTransaction("900")])
      try await store.submit(TransactionSample("1", "1").with { $0.appTransaction = "900" })
      try expectEqual(try await store.account(of: "1"), nil, "it teaches nothing")
      try expectEqual(try await store.customer(.appTransaction("900")).record.accountID, nil)
      let event = try await store.feed().flatMap(\.events).last { $0.kind == .purchaseDisputed }
      try expectEqual(event?.detail, "900")
    },
  ]

  /// As ``catalog``, for accounts that claim several purchases.
  private static let catalogOfMany: Catalog = {
    var catalog = Self.catalog
    catalog.apps[readerScope.bundleID]?.claimsPerDay = 9
    return catalog
  }()
}

extension EntitlementStore {
  /// The chains of the feed's events about disputed purchases.
  fileprivate func disputes() async throws -> [OriginalTransactionID] {
    try await feed().flatMap(\.events).filter { $0.kind == .purchaseDisputed }
      .compactMap(\.originalTransactionID)
  }
}
