import EntitlementDomain
import EntitlementStore

// Tokens whose account a request or the app's own derivation decides (R71, R74).
extension StoreConformanceSuite {
  private static func purchase(_ number: Int, _ hint: AppAccountToken) -> TransactionSample {
    TransactionSample("\(number)", "\(number)").with {
      $0.token = hint
    }
  }

  static let boundTokenCases = [
    ConformanceCase("A bound token stands over everything learned (R71)") { store, _ in
      try await store.submit(purchase(1, token(1)), by: "mallory")
      try await store.submit(purchase(2, token(1)), by: "victoria")
      try await store.submit(purchase(3, token(1)))
      let receipt = try await store.done(.bindToken(token(1), to: "victoria"), at: 9_000)
      try expectEqual(receipt.isChanged, true)
      try expectEqual(receipt.targets, [.chain("3")], "the purchases that waited")
      try expectEqual(
        try await store.history(of: .chain("3")).last,
        LinkEvent(
          from: nil, to: "victoria", reason: .appAccountToken,
          author: LinkAuthor(sampleCaller("otto")), onBehalfOf: "ada",
          note: "a ticket",
          at: 9_000))
      // Mallory goes on presenting it, and takes a purchase back and forth.
      for number in 4...7 { try await store.submit(purchase(number, token(1)), by: "mallory") }
      for account: AccountID in ["mallory", "victoria"] {
        try await store.submit(purchase(2, token(1)), by: account)
      }
      try await store.submit(purchase(8, token(1)))
      try expectEqual(try await store.account(of: "8"), "victoria")
      try expectEqual(
        try await store.tokens(of: "victoria"),
        [
          KnownToken(
            token(1),
            TokenRow(
              account: "victoria", state: .bound, author: "otto", onBehalfOf: "ada",
              note: "a ticket", since: 9_000))
        ])
      try expectEqual(try await store.ambiguities().count, 1)
      // A link by a bound token does not yield: nobody has to confirm it.
      let claimed = try await store.submit(
        purchase(8, token(1)), by: "mallory", under: PolicySample.catalog(.keep))
      try expectEqual(claimed.links, [.alreadyLinked])
    },

    ConformanceCase("A token is bound before its first purchase, again, and no longer (R71)") {
      store, _ in
      try await store.done(.bindToken(token(1), to: "alice"))
      let again = try await store.done(.bindToken(token(1), to: "alice"))
      try expectEqual(again.isChanged, false)
      try await store.submit(purchase(1, token(1)))
      try expectEqual(try await store.account(of: "1"), "alice")
      try await store.done(.bindToken(token(1), to: "bob"))
      try await store.submit(purchase(2, token(1)))
      try expectEqual(try await store.account(of: "1"), "alice", "linked before")
      try expectEqual(try await store.account(of: "2"), "bob")
      try expectEqual(
        try await store.customer(.appAccountToken(token(1))).subject, account("bob"))
      try await store.done(.bindToken(token(1), to: nil))
      try expectEqual(try await store.done(.bindToken(token(1), to: nil)).isChanged, false)
      try await store.submit(purchase(3, token(1)))
      try expectEqual(try await store.account(of: "3"), nil)
    },

    ConformanceCase("The token of zeros is none, also where it is stored (R43)") {
      store, _ in
      // As a program stored it that took it for a token.
      func former(_ number: Int) throws -> SignedFact {
        var signed = try purchase(number, .zeros).signed()
        guard case .transaction(var transaction) = signed.fact else { return signed }
        transaction.appAccountToken = .zeros
        signed.fact = .transaction(transaction)
        return signed
      }
      try await store.submit([former(1)])
      try await store.submit([former(2)], by: "alice")
      try expectEqual(try await store.tokens(of: "alice").map(\.token), [.zeros])
      try expectEqual(try await store.account(of: "1"), nil, "what waited")
      try await store.submit(purchase(1, .zeros).with { $0.signedAt = 2_000 })
      try await store.submit(purchase(3, .zeros))
      try await store.submit(purchase(4, .zeros), by: "bob")
      for number in [1, 3] {
        try expectEqual(try await store.account(of: OriginalTransactionID("\(number)")), nil)
      }
      try expectEqual(try await store.customer(.appAccountToken(.zeros)).subject, nil)
      for fact in try await store.customer(.account("alice")).record.facts {
        guard case .transaction(let transaction) = fact else { continue }
        try expectEqual(transaction.appAccountToken, nil)
      }
      try expectEqual(try await store.ambiguities(), [])
      try await store.done(.bindToken(.zeros, to: nil))
      try expectEqual(try await store.tokens(of: "alice"), [], "forgotten")
    },

    ConformanceCase("Deleting an account erases its tokens, and a merge moves them (R46, R71)") {
      store, _ in
      try await store.done(.bindToken(token(1), to: "alice"))
      try await store.submit(purchase(2, token(2)), by: "alice")
      try await store.submit(purchase(3, token(3)), by: "alice")
      try await store.submit(purchase(4, token(3)), by: "mallory")
      try await store.done(.merge("alice", into: "bob"))
      try expectEqual(
        try await store.tokens(of: "bob").map { [$0.token.rawValue, "\($0.row.state)"] },
        [
          [token(1).rawValue, "bound"], [token(2).rawValue, "learned"],
          [token(3).rawValue, "ambiguous"],
        ])
      try await store.done(.delete("bob"))
      try expectEqual(try await store.tokens(of: "bob"), [])
      // What was ambiguous stays so, without a name, or Mallory would get it.
      try expectEqual(try await store.tokens(of: nil).map(\.token), [token(3)])
      try expectEqual(try await store.tokens(of: nil).map(\.row.account), [nil])
      for number in 1...3 {
        try await store.submit(purchase(10 + number, token(number)))
        try expectEqual(
          try await store.account(of: OriginalTransactionID("\(10 + number)")), nil)
      }
    },

    ConformanceCase("An app transaction is settled by name, and stays so (R71)") { store, _ in
      func buy(_ number: Int) -> TransactionSample {
        TransactionSample("\(number)", "\(number)").with {
          $0.appTransaction = "900"
        }
      }
      try await store.submit([AppTransactionSample("900").signed()], by: "victoria")
      try await store.submit(buy(1), by: "mallory")
      try await store.submit(buy(2))
      try expectEqual(try await store.account(of: "2"), nil)
      let settled = try await store.done(.link(.appTransaction("900"), to: "victoria"))
      try expectEqual(settled.isChanged, true)
      try expectEqual(try await store.account(of: "2"), "victoria", "what waited")
      try expectEqual(
        try await store.done(.link(.appTransaction("900"), to: "victoria")).isChanged, false)
      // Mallory presents it again, and the app transaction itself.
      try await store.submit(buy(3), by: "mallory")
      let claimed = try await store.submit([AppTransactionSample("900").signed()], by: "mallory")
      try expectEqual(claimed.links, [.alreadyLinked])
      try await store.submit(buy(4))
      try expectEqual(try await store.account(of: "4"), "victoria")
      try expectEqual(
        try await store.links(of: "victoria", in: readerScope).map(\.isContested),
        [false, false, false])
      try expectEqual(try await store.ambiguities().count, 1)
    },

    ConformanceCase("An app transaction whose account was deleted is learned again, once (R71)") {
      store, _ in
      let purchase = TransactionSample("1", "1").with { $0.appTransaction = "900" }
      try await store.submit(purchase, by: "carol")
      let claimed = try await store.submit([AppTransactionSample("900").signed()], by: "bob")
      try expectEqual(claimed.links, [.transferred])
      try await store.done(.delete("bob"))
      try await store.submit(purchase, by: "carol")
      let events = try await store.history(of: .appTransaction("900"))
      try expectEqual(events.last?.to, "carol")
      try await store.submit(purchase, by: "carol")
      try expectEqual(try await store.history(of: .appTransaction("900")), events, "a repetition")
    },

    ConformanceCase("Tokens are listed in pages, and exported with their state (R71)") {
      store, _ in
      for number in 1...5 {
        try await store.submit(purchase(number, token(number)), by: "alice")
      }
      for number in 4...5 {
        try await store.submit(purchase(number * 10, token(number)), by: "bob")
      }
      let first = try await store.tokens(of: "alice", in: readerScope, after: nil, limit: 2)
      let second = try await store.tokens(
        of: "alice", in: readerScope, after: first.last?.token, limit: 9)
      try expectEqual((first + second).map(\.token), (1...5).map { token($0) })
      try expectEqual(
        try await store.tokens(of: nil, in: readerScope, after: token(4), limit: 9).map(\.token),
        [token(5)])
      try expectEqual(
        try await store.export("alice", in: readerScope)?.tokens, first + second)
      try expectEqual(
        (first + second).map(\.row.state),
        [.learned, .learned, .learned, .ambiguous, .ambiguous])
    },
  ]

  // MARK: Derived tokens

  private static let deriving: Catalog = {
    var catalog = PolicySample.catalog(.transfer)
    catalog.apps[readerScope.bundleID]?.tokenNamespace = TokenNamespace(
      "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
    return catalog
  }()

  private static func derived(_ account: AccountID) throws -> AppAccountToken {
    guard let token = deriving.derivedToken(of: account, in: readerScope)?.token else {
      throw ConformanceFailure("no token is derived", file: #fileID, line: #line)
    }
    return token
  }

  static let derivedTokenCases = [
    ConformanceCase("A derived token links from when its account is first named (R74)") {
      store, _ in
      let hint = try derived("victoria")
      // Mallory computed it, too.
      try await store.submit(purchase(1, hint), by: "mallory", under: deriving)
      try await store.submit(purchase(2, hint), under: deriving)
      try expectEqual(try await store.account(of: "2"), nil, "nothing is learned")
      try await store.submit(TransactionSample("3", "3"), by: "victoria", under: deriving)
      try expectEqual(try await store.account(of: "2"), "victoria", "what came earlier")
      try await store.submit(purchase(4, hint), by: "mallory", under: deriving)
      try await store.submit(purchase(5, hint), under: deriving)
      try expectEqual(try await store.account(of: "5"), "victoria")
      try expectEqual(try await store.ambiguities(), [])
      try expectEqual(try await store.tokens(of: "victoria").map(\.row.state), [.bound])
    },

    ConformanceCase("A request that names an account binds its derived token, too (R74)") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), under: deriving)
      try await store.submit(purchase(2, derived("victoria")), under: deriving)
      try await store.done(.link(.chain("1"), to: "victoria"), under: deriving)
      try expectEqual(try await store.account(of: "2"), "victoria")
      // A refused claim names no account that is known.
      let keep = Self.deriving.with(.keep)
      try await store.submit(purchase(3, derived("mallory")), under: keep)
      try await store.submit(TransactionSample("1", "1"), by: "mallory", under: keep)
      try expectEqual(try await store.account(of: "3"), nil)
      try expectEqual(try await store.accountIDs(), ["victoria"])
    },

    ConformanceCase("Tokens that were learned before link nothing where tokens are derived (R74)") {
      store, _ in
      let hint = try derived("victoria")
      try await store.submit(purchase(1, hint), by: "mallory")
      try await store.submit(purchase(2, hint), under: deriving)
      try expectEqual(try await store.account(of: "2"), nil)
      try await store.submit(purchase(2, hint), by: "victoria", under: deriving)
      try expectEqual(try await store.tokens(of: "victoria").map(\.token), [hint])
    },
  ]
}

extension Catalog {
  fileprivate func with(_ policy: LinkPolicy) -> Catalog {
    var catalog = self
    catalog.apps[readerScope.bundleID]?.linkPolicies = [.production: policy]
    return catalog
  }
}
