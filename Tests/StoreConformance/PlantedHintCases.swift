import EntitlementDomain
import EntitlementStore

// Mallory plants hints, so that purchases of others arrive at an account of his own (R70–R72).
extension StoreConformanceSuite {
  /// A purchase that carries Victoria's token and app transaction.
  private static func purchase(
    _ number: Int, token hint: AppAccountToken? = token(1), app: AppTransactionID? = "900"
  ) -> TransactionSample {
    TransactionSample("\(number)", "\(number)").with {
      $0.token = hint
      $0.appTransaction = app
    }
  }

  /// The two hints, each alone.
  private static let hints: [@Sendable (TransactionSample) -> TransactionSample] = [
    { $0.with { $0.appTransaction = nil } }, { $0.with { $0.token = nil } },
  ]

  static let plantedHintCases = [
    ConformanceCase("A replayed purchase that is claimed back leads no later one away (R70, R71)") {
      store, _ in
      try await store.submit(purchase(1), by: "mallory")
      let claimed = try await store.submit(purchase(1), by: "victoria")
      try expectEqual(claimed.links, [.transferred])
      // By notification: with each hint, and with both.
      for (number, hint) in hints.enumerated() {
        try await store.submit(hint(purchase(10 + number)))
        try expectEqual(
          try await store.account(of: OriginalTransactionID("1\(number)")), nil,
          "purchase 1\(number)")
      }
      try await store.submit(purchase(2))
      try expectEqual(try await store.account(of: "2"), nil)
      try await store.submit(
        TransactionSample("3", "3").with { $0.previousChain = "1" })
      try expectEqual(try await store.account(of: "3"), nil, "the successor")
      // Her app submits them.
      try await store.submit(purchase(2), by: "victoria")
      try expectEqual(try await store.account(of: "2"), "victoria")
      try expectEqual(
        try await store.links(of: "mallory"), [.appTransaction("900")])
    },

    ConformanceCase("What became ambiguous is told once, without a customer (R71)") { store, _ in
      try await store.submit(purchase(1), by: "mallory")
      for account: AccountID in ["victoria", "mallory", "victoria", "mallory"] {
        try await store.submit(purchase(1), by: account)
        try await store.submit(purchase(5), by: account)
      }
      let told = try await store.feed().filter { !$0.events.isEmpty }
      try expectEqual(told.map(\.subject), [nil, nil])
      try expectEqual(told.map(\.kinds), [.events, .events])
      try expectEqual(
        try await store.ambiguities(),
        [
          FeedEvent(
            kind: .tokenAmbiguous, notificationUUID: "", originalTransactionID: "1",
            detail: token(1).rawValue),
          FeedEvent(
            kind: .appTransactionAmbiguous, notificationUUID: "", originalTransactionID: "1",
            detail: "900"),
        ])
    },

    ConformanceCase("A consumable with another customer's token ends as ambiguous (R71)") {
      store, _ in
      // Before her first purchase, and after it.
      for (first, second) in [("mallory", "victoria"), ("victoria", "mallory")] {
        let number = first == "mallory" ? 1 : 2
        let hint = token(number)
        try await store.submit(
          purchase(number * 10, token: hint, app: nil), by: AccountID(first))
        try await store.submit(
          purchase(number * 10 + 1, token: hint, app: nil), by: AccountID(second))
        try await store.submit(purchase(number * 10 + 2, token: hint, app: nil))
        try expectEqual(
          try await store.account(of: OriginalTransactionID("\(number * 10 + 2)")), nil,
          "\(first) first")
        try expectEqual(
          try await store.tokens(of: nil).map(\.token), (1...number).map { token($0) })
      }
    },

    ConformanceCase("What a planted token linked goes to the first account that is named (R72)") {
      store, _ in
      let keep = PolicySample.catalog(.keep)
      try await store.submit(purchase(1, app: nil), by: "mallory", under: keep)
      // Her first purchase arrives before her app names it.
      try await store.submit(purchase(2), under: keep)
      try expectEqual(try await store.account(of: "2"), "mallory")
      let receipt = try await store.submit(purchase(2), by: "victoria", under: keep)
      try expectEqual(receipt.links, [.transferred])
      try expectEqual(
        try await store.links(of: "victoria"), [.chain("2"), .appTransaction("900")])
      // It is hers now, and the policy holds for it.
      let replayed = try await store.submit(purchase(2), by: "mallory", under: keep)
      try expectEqual(replayed.links, [.alreadyLinked])
    },

    ConformanceCase("A link by a hint that its own account confirms obeys the policy (R72)") {
      store, _ in
      let keep = PolicySample.catalog(.keep)
      try await store.submit(purchase(1), by: "victoria", under: keep)
      try await store.submit(purchase(2), under: keep)
      let confirmed = try await store.submit(purchase(2), by: "victoria", under: keep)
      try expectEqual(confirmed.links, [.unchanged])
      let claimed = try await store.submit(purchase(2), by: "mallory", under: keep)
      try expectEqual(claimed.links, [.alreadyLinked])
      try expectEqual(try await store.account(of: "2"), "victoria")
    },

    ConformanceCase("A refused claim teaches nothing, and leads nothing away (R44, R71)") {
      store, _ in
      for policy in [LinkPolicy.keep, .transferIfInactive] {
        let catalog = PolicySample.catalog(policy)
        let number = policy == .keep ? 100 : 200
        let (hint, app) = (token(number), AppTransactionID("9\(number)"))
        // Mallory was first: her claim is refused, and her next purchases wait.
        try await store.submit(
          purchase(number, token: hint, app: app), by: "mallory", under: catalog)
        let refused = try await store.submit(
          purchase(number, token: hint, app: app), by: "victoria", under: catalog)
        try expectEqual(refused.links, [.alreadyLinked], "under \(policy)")
        try await store.submit(purchase(number + 1, token: hint, app: app), under: catalog)
        try await store.submit(
          TransactionSample("\(number + 2)", "\(number + 2)").with {
            $0.previousChain = OriginalTransactionID("\(number)")
          }, under: catalog)
        for later in [number + 1, number + 2] {
          try expectEqual(
            try await store.account(of: OriginalTransactionID("\(later)")), nil, "\(later)")
        }
      }
    },

    ConformanceCase("The order of hints and claims does not decide who gets a purchase (R70)") {
      store, _ in
      // A purchase by notification before, between and after the replay and the claim.
      for (place, number) in [10, 20, 30].enumerated() {
        let hint = token(number)
        func buy(_ offset: Int) -> TransactionSample {
          purchase(number + offset, token: hint, app: AppTransactionID("9\(number)"))
        }
        if place == 0 { try await store.submit(buy(1)) }
        try await store.submit(buy(0), by: "mallory")
        if place == 1 { try await store.submit(buy(1)) }
        try await store.submit(buy(0), by: "victoria")
        if place == 2 { try await store.submit(buy(1)) }
        // Her app names it. Repeats change nothing.
        for _ in 0..<2 { try await store.submit(buy(1), by: "victoria") }
        let revision = try await store.revision(of: .account("victoria"))
        try await store.submit(buy(1))
        try expectEqual(try await store.revision(of: .account("victoria")), revision)
        try expectEqual(
          try await store.account(of: OriginalTransactionID("\(number + 1)")), "victoria",
          "order \(place)")
        try expectEqual(try await store.tokens(of: nil).map(\.token).contains(hint), true)
      }
    },

    ConformanceCase("A transfer by name voids what the loser taught (R70, R71)") { store, _ in
      try await store.submit(purchase(1), by: "mallory")
      try await store.done(.transfer(.chain("1"), from: nil, to: "victoria"))
      for (number, hint) in hints.enumerated() {
        try await store.submit(hint(purchase(10 + number)))
        try expectEqual(
          try await store.account(of: OriginalTransactionID("1\(number)")), nil)
      }
      // What a request decided leads on.
      try await store.submit(TransactionSample("3", "3").with { $0.previousChain = "1" })
      try expectEqual(try await store.account(of: "3"), "victoria")
    },

    ConformanceCase("An ambiguous hint finds no account (R71)") { store, _ in
      try await store.submit(purchase(1), by: "mallory")
      try expectEqual(
        try await store.customer(.appAccountToken(token(1))).subject, account("mallory"))
      try await store.submit(purchase(1), by: "victoria")
      try await store.submit(purchase(2))
      for selector: CustomerSelector in [.appAccountToken(token(1)), .appTransaction("900")] {
        let found = try await store.customer(selector)
        try expectEqual(found.subject, nil)
        try expectEqual(found.factKeys, ["transaction/2"], "only what has no account")
        try expectEqual(
          try await store.resolve(selector, in: readerScope).subject, unlinked("2"))
      }
    },

    ConformanceCase("Learned hints can be switched off (R73)") { store, _ in
      var catalog = PolicySample.catalog(.keep)
      catalog.apps[readerScope.bundleID]?.usesLearnedHints = false
      try await store.submit(purchase(1), by: "mallory", under: catalog)
      try await store.submit([AppTransactionSample("901").signed()], by: "mallory", under: catalog)
      for (number, hint) in hints.enumerated() {
        try await store.submit(hint(purchase(10 + number)), under: catalog)
      }
      try await store.submit(purchase(12, token: nil, app: "901"), under: catalog)
      try await store.submit(
        TransactionSample("13", "13").with { $0.previousChain = "1" }, under: catalog)
      for chain: OriginalTransactionID in ["10", "11", "12", "13"] {
        try expectEqual(try await store.account(of: chain), nil, chain.rawValue)
      }
      // What is bound by name links all the same.
      try await store.done(.bindToken(token(1), to: "victoria"), under: catalog)
      try expectEqual(try await store.account(of: "10"), "victoria")
    },
  ]
}
