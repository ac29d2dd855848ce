import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let linkCases = [
    ConformanceCase("Hints find the account in a fixed order (R42)") { store, _ in
      // Four accounts, each found by one of the hints.
      try await store.submit(
        TransactionSample("1", "1").with { $0.token = token(1) }, by: "by-token")
      try await store.submit(
        TransactionSample("2", "2").with { $0.appTransaction = "902" }, by: "by-app-transaction")
      try await store.submit(TransactionSample("3", "3"), by: "by-previous-chain")

      let all = TransactionSample("10", "10").with {
        $0.token = token(1)
        $0.appTransaction = "902"
        $0.previousChain = "3"
      }
      try await store.submit(
        all.with {
          $0.id = "11"; $0.chain = "11"
        })
      try await store.submit(
        all.with {
          $0.id = "12"; $0.chain = "12"; $0.token = nil
        })
      try await store.submit(
        TransactionSample("13", "13").with { $0.previousChain = "3" })
      try await store.submit(
        TransactionSample("14", "14").with {
          $0.token = token(77); $0.previousChain = "99"
        })
      // Last: it makes the hints ambiguous (R71).
      try await store.submit(all, by: "named")

      let expected: [(OriginalTransactionID, AccountID?, LinkReason?)] = [
        ("10", "named", .named), ("11", "by-token", .appAccountToken),
        ("12", "by-app-transaction", .appTransaction),
        ("13", "by-previous-chain", .previousChain), ("14", nil, nil),
      ]
      for (chain, account, reason) in expected {
        try expectEqual(try await store.account(of: chain), account, "account of \(chain)")
        let history = try await store.linkHistory(of: .chain(chain), in: readerScope)
        try expectEqual(history.map(\.reason), reason.map { [$0] } ?? [], "history of \(chain)")
        try expectEqual(history.map(\.to), account.map { [$0] } ?? [], "history of \(chain)")
      }
    },

    ConformanceCase("A token that submissions named two accounts with links nothing (R43, R71)") {
      store, _ in
      try await store.submit(
        TransactionSample("1", "1").with { $0.token = token(1) }, by: "alice")
      try await store.submit(
        TransactionSample("2", "2").with { $0.token = token(1) }, by: "bob")
      try await store.submit(TransactionSample("3", "3").with { $0.token = token(1) })
      try expectEqual(try await store.account(of: "2"), "bob", "the named account's chain")
      try expectEqual(try await store.account(of: "3"), nil, "the token's chain")
      try expectEqual(
        try await store.customer(.appAccountToken(token(1))).record.accountID, nil)
    },

    ConformanceCase("A hint never moves a linked chain (R43)") { store, _ in
      try await store.submit(
        TransactionSample("1", "1").with { $0.token = token(1) }, by: "alice")
      try await store.submit(TransactionSample("2", "2"), by: "bob")
      // Changed by a crossgrade: the chain stays with Bob.
      try await store.submit(
        TransactionSample("3", "2").with {
          $0.token = token(1); $0.signedAt = 3_000
        })
      try expectEqual(try await store.account(of: "2"), "bob")
      try expectEqual(try await store.linkHistory(of: .chain("2"), in: readerScope).count, 1)
    },

    ConformanceCase("A submission without an account does not bind its token (R43)") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      try await store.submit(
        TransactionSample("2", "1").with {
          $0.token = token(1); $0.signedAt = 2_000
        })
      try await store.submit(TransactionSample("3", "3").with { $0.token = token(1) })
      try expectEqual(try await store.account(of: "3"), nil)
    },

    ConformanceCase("A renewal info before its transaction creates the chain") { store, _ in
      try await store.submit([RenewalSample("1").signed()])
      try expectEqual(
        try await store.customer(.originalTransaction("1")).subject, unlinked("1"))
      try await store.submit([RenewalSample("2").signed()], by: "alice")
      try expectEqual(try await store.account(of: "2"), "alice")
      try await store.submit(TransactionSample("20", "2"))
      try expectEqual(
        try await store.customer(.account("alice")).factKeys, ["renewalInfo/2", "transaction/20"])
    },

    ConformanceCase("A submission links all its chains and its app transaction") { store, _ in
      let receipt = try await store.submit(
        [
          TransactionSample("1", "10").with { $0.appTransaction = "901" }.signed(),
          RenewalSample("20").signed(), AppTransactionSample("900").signed(),
        ], by: "alice")
      try expectEqual(receipt.changed, [account("alice")])
      try expectEqual(
        try await store.customer(.account("alice")).factKeys,
        ["appTransaction/900", "renewalInfo/20", "transaction/1"])
      // Linked by the app transaction id in the transaction, although the app transaction's fact
      // comes later.
      try await store.submit([AppTransactionSample("901").signed()])
      try expectEqual(try await store.customer(.account("alice")).record.facts.count, 4)
    },

    ConformanceCase("An app transaction without an account waits for its first chain") { store, _ in
      let first = try await store.submit([AppTransactionSample("900").signed()])
      try expectEqual(first.dispositions, [.added])
      try expectEqual(first.changed, [], "changed: it has no account yet")
      try expectEqual(
        try await store.customer(.appTransaction("900")).factKeys, ["appTransaction/900"])
      try await store.submit(
        TransactionSample("1", "1").with { $0.appTransaction = "900" }, by: "alice")
      try expectEqual(
        try await store.customer(.account("alice")).factKeys,
        ["appTransaction/900", "transaction/1"])
    },
  ]
}
