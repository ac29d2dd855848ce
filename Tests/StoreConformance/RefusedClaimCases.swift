import EntitlementDomain
import EntitlementStore

// A refused claim stores its facts, does not reveal the owner, and binds no hints to the claimer
// (R44).
extension StoreConformanceSuite {
  private static let keep = PolicySample.catalog(.keep)

  static let refusedClaimCases = [
    ConformanceCase("The facts of a refused claim are stored, for the owner (R44)") { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice", under: keep)
      let renewal = TransactionSample("2", "1").with { $0.signedAt = 2_000 }
      let receipt = try await store.submit(renewal, by: "bob", under: keep)
      try expectEqual(receipt.dispositions, [.added])
      try expectEqual(receipt.links, [.alreadyLinked])
      try expectEqual(receipt.customers, [], "customers")
      // For subscribers that cache the owner's state, not for the claimer.
      try expectEqual(receipt.changed, [account("alice")])
      let alice = try await store.customer(.account("alice"))
      try expectEqual(alice.factKeys, ["transaction/1", "transaction/2"])
      let last = try unwrap(try await store.feed().last, "change")
      try expectEqual(last.subject, account("alice"))
      try expectEqual(last.kinds, .facts)
      try expectEqual(last.sequence, alice.record.revision)
      // So that the author of the write can read it, though the answer does not name the owner.
      try expectEqual(receipt.latest, last.sequence, "latest")
      try expectEqual(
        try await store.accounts(in: readerScope, after: nil, limit: 9).map(\.accountID), ["alice"])
    },

    ConformanceCase("The token of a refused claim is not bound to the claimer (R43, R44)") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice", under: keep)
      try await store.submit(TransactionSample("9", "9").with { $0.token = token(1) })
      let claim = TransactionSample("2", "1").with {
        $0.token = token(1); $0.signedAt = 2_000
      }
      try await store.submit(claim, by: "bob", under: keep)
      try expectEqual(try await store.account(of: "9"), nil, "the chain stored with the token")
      try await store.submit(TransactionSample("3", "3").with { $0.token = token(1) })
      try expectEqual(try await store.account(of: "3"), nil, "a later chain with the token")
      // A submission that the claimer owns binds hints as usual.
      try await store.submit(
        TransactionSample("4", "4").with { $0.token = token(1) }, by: "bob", under: keep)
      try expectEqual(try await store.account(of: "9"), "bob")
    },

    ConformanceCase("The app transaction of a refused claim goes to the owner (R42, R44)") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice", under: keep)
      try await store.submit(TransactionSample("9", "9").with { $0.appTransaction = "900" })
      let claim = try TransactionSample("2", "1").with {
        $0.appTransaction = "900"; $0.signedAt = 2_000
      }.signed()
      let orders = [
        [try AppTransactionSample("900").signed(), claim],
        [claim, try AppTransactionSample("900").signed()],
      ]
      for order in orders {
        let receipt = try await store.submit(order, by: "bob", under: keep)
        try expectEqual(receipt.links, [.alreadyLinked, .alreadyLinked])
        try expectEqual(receipt.customers, [], "customers")
        // It is hers, and leads nothing to her: it was presented for two accounts (R71).
        try expectEqual(try await store.account(of: "9"), nil)
        try expectEqual(
          try await store.links(of: "alice"), [.chain("1"), .appTransaction("900")])
      }
      try expectEqual(try await store.customer(.account("bob")).record.revision, 0)
    },

    ConformanceCase(
      "In a partly refused submission, the claimer's own facts are linked and reported"
    ) { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice", under: keep)
      let receipt = try await store.submit(
        [
          TransactionSample("1", "1").signed(), TransactionSample("2", "2").signed(),
          RenewalSample("1").signed(),
        ], by: "bob", under: keep)
      try expectEqual(receipt.links, [.alreadyLinked, .linked, .alreadyLinked])
      try expectEqual(receipt.customers.map(\.subject), [account("bob")])
      try expectEqual(Set(receipt.changed), [account("alice"), account("bob")], "changed")
      try expectEqual(receipt.latest, try await store.feed().last?.sequence, "latest")
    },

    ConformanceCase("An owner that keeps one target and loses another is not named") {
      store, _ in
      let catalog = PolicySample.catalog(.transferIfInactive)
      let facts = [
        try TransactionSample("1", "1").signed(),
        try TransactionSample("2", "2").with { $0.isRevoked = true }.signed(),
      ]
      try await store.submit(facts, by: "alice", under: catalog)
      let receipt = try await store.submit(facts, by: "bob", under: catalog)
      try expectEqual(receipt.links, [.alreadyLinked, .transferred])
      try expectEqual(receipt.customers.map(\.subject), [account("bob")])
      try expectEqual(Set(receipt.changed), [account("alice"), account("bob")], "changed")
    },

    ConformanceCase("A refused claim may be granted later, after the chain has expired (R44)") {
      store, _ in
      let catalog = PolicySample.catalog(.transferIfInactive)
      let sample = TransactionSample("1", "1")
      try await store.submit(sample, by: "alice", at: PolicySample.early, under: catalog)
      for (at, outcome) in [
        (PolicySample.early, LinkOutcome.alreadyLinked), (PolicySample.late, .transferred),
        (PolicySample.late, .unchanged),
      ] {
        let receipt = try await store.submit(sample, by: "bob", at: at, under: catalog)
        try expectEqual(receipt.links, [outcome])
      }
      try expectEqual(try await store.account(of: "1"), "bob")
    },

    ConformanceCase("Of many concurrent claimers under keep, one gets the chain (R45)") {
      store, _ in
      let sample = TransactionSample("1", "1").with {
        $0.token = token(1); $0.appTransaction = "900"
      }
      let outcomes = try await claims(of: sample, under: .keep, in: store)
      try expectEqual(outcomes.count { $0.1 == .linked }, 1, "winners")
      try expectEqual(outcomes.count { $0.1 == .alreadyLinked }, 63, "losers")
      let winner = try unwrap(outcomes.first { $0.1 == .linked }?.0, "winner")
      try expectEqual(try await store.account(of: "1"), winner)
      try expectEqual(
        try await store.links(of: winner), [.chain("1"), .appTransaction("900")])
      // The losers presented both hints, too (R71).
      for selector: CustomerSelector in [.appTransaction("900"), .appAccountToken(token(1))] {
        try expectEqual(try await store.customer(selector).record.accountID, nil, "\(selector)")
      }
      try expectEqual(
        try await store.linkHistory(of: .chain("1"), in: readerScope).map(\.to), [winner])
      try expectEqual(try await store.ambiguities().count, 2, "ambiguous hints")
      try expectEqual(
        try await store.accounts(in: readerScope, after: nil, limit: 100).map(\.accountID),
        [winner])
    },

    ConformanceCase("After many concurrent claims, one account has the chain (R45)") { store, _ in
      let outcomes = try await claims(
        of: TransactionSample("1", "1"), under: .transfer, in: store)
      try expectEqual(outcomes.count { $0.1 == .linked }, 1, "first claims")
      try expectEqual(outcomes.count { $0.1 == .transferred }, 63, "transfers")
      let history = try await store.linkHistory(of: .chain("1"), in: readerScope)
      try expectEqual(history.map(\.from), [nil] + history.dropLast().map(\.to), "hands")
      let accounts = try await store.accounts(in: readerScope, after: nil, limit: 100)
      try expectEqual(
        accounts.filter { $0.chainCount > 0 }.map(\.accountID),
        [try unwrap(history.last?.to, "winner")])
    },

    ConformanceCase("An expired chain moves to each of many concurrent claimers once (R45)") {
      store, _ in
      let ended = TransactionSample("1", "1").with { $0.isRevoked = true }
      let outcomes = try await claims(of: ended, under: .transferIfInactive, in: store)
      try expectEqual(outcomes.count { $0.1 == .alreadyLinked }, 0, "refused")
      try expectEqual(try await store.linkHistory(of: .chain("1"), in: readerScope).count, 64)
    },
  ]

  /// Each account claims once. All accounts run concurrently.
  private static func claims(
    of sample: TransactionSample, under policy: LinkPolicy, in store: any EntitlementStore
  ) async throws -> [(AccountID, LinkOutcome?)] {
    let catalog = PolicySample.catalog(policy)
    return try await withThrowingTaskGroup(of: (AccountID, LinkOutcome?).self) { group in
      for number in 0..<64 {
        group.addTask {
          let account = AccountID("account-\(number)")
          return (account, try await store.submit(sample, by: account, under: catalog).links.first)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }
}
