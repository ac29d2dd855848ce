import EntitlementDomain
import EntitlementStore

// What nobody signed hints at nobody (R42, R43): it leads no purchase that Apple signed to anybody,
// until the account comes with something signed of the same.
extension StoreConformanceSuite {
  static let unsignedHintCases = [
    ConformanceCase("The token of an import becomes nobody's, and finds nobody (R43)") { store, _ in
      let imported = TransactionSample("1", "1").with { $0.token = token(1) }
      try await store.submit([imported.archived()], by: "alice")
      try await store.submit(TransactionSample("2", "2").with { $0.token = token(1) })
      try expectEqual(try await store.account(of: "2"), nil, "a signed purchase with that token")
      let found = try await store.customer(.appAccountToken(token(1))).record
      try expectEqual(found.accountID, nil)
      try expectEqual(found.facts.map(\.key.identifier), ["2"])
    },

    ConformanceCase("An import is not led to an account by its own hints (R42)") { store, _ in
      try await store.submit(
        TransactionSample("1", "1").with {
          $0.token = token(1); $0.appTransaction = "900"
        }, by: "alice")
      for (number, change) in hints.enumerated() {
        let chain = OriginalTransactionID("1\(number)")
        // Signed by Apple, and nobody's.
        try await store.submit(TransactionSample("2\(number)", chain.rawValue))
        try await store.submit([
          TransactionSample("3\(number)", chain.rawValue).with(change).archived()
        ])
        try expectEqual(try await store.account(of: chain), nil, "hint \(number)")
        // Signed, the same leads there.
        try await store.submit(
          TransactionSample("3\(number)", chain.rawValue).with(change))
        try expectEqual(try await store.account(of: chain), "alice", "hint \(number), signed")
      }
    },

    ConformanceCase("An import teaches no hint to a chain that has its account (R42, R43)") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      let imported = try TransactionSample("2", "1").with {
        $0.token = token(1)
        $0.appTransaction = "900"
      }.archived()
      for account: AccountID? in ["alice", "bob", nil] {
        try await store.submit([imported], by: account)
      }
      try await store.submit([
        TransactionSample("8", "8").with { $0.token = token(1) }.signed(),
        TransactionSample("9", "9").with { $0.appTransaction = "900" }.signed(),
      ])
      try expectEqual(try await store.account(of: "8"), nil, "by the token")
      try expectEqual(try await store.account(of: "9"), nil, "by the app transaction")
    },

    ConformanceCase(
      "What an import is linked to leads nothing signed there, in any order (R7, R42)"
    ) {
      store, _ in
      let imports = [
        try TransactionSample("1", "1").with { $0.appTransaction = "900" }.archived(),
        try AppTransactionSample("901").archived(),
      ]
      func signed(_ first: Int) throws -> [SignedFact] {
        [
          try TransactionSample("\(first)", "\(first)").with { $0.previousChain = "1" }.signed(),
          try TransactionSample("\(first + 1)", "\(first + 1)").with { $0.appTransaction = "900" }
            .signed(),
          try TransactionSample("\(first + 2)", "\(first + 2)").with { $0.appTransaction = "901" }
            .signed(),
        ]
      }
      try await store.submit(signed(20))
      try expectEqual(
        try await store.submit(imports, by: "alice").links, [.linked, .linked])
      try expectEqual(
        try await store.submit(signed(30)).links, [.unlinked, .unlinked, .unlinked])
      for chain in [20, 21, 22, 30, 31, 32] {
        let id = OriginalTransactionID("\(chain)")
        try expectEqual(try await store.account(of: id), nil, "chain \(chain)")
      }
      try expectEqual(
        try await store.customer(.account("alice")).factKeys,
        ["appTransaction/901", "transaction/1"])
    },

    ConformanceCase("A signed fact of an imported chain leads nothing further by itself (R42)") {
      store, _ in
      try await store.submit([TransactionSample("1", "1").archived()], by: "alice")
      try await store.submit(TransactionSample("9", "9").with { $0.appTransaction = "900" })
      // A notification of its renewal: it says whose the chain is to nobody.
      let renewed = TransactionSample("2", "1").with { $0.appTransaction = "900" }
      try expectEqual(try await store.submit(renewed).links, [.unchanged])
      try expectEqual(try await store.account(of: "9"), nil)
      try expectEqual(
        try await store.customer(.account("alice")).factKeys, ["transaction/1", "transaction/2"])
      try expectEqual(
        try await store.customer(.appTransaction("900")).factKeys, ["transaction/9"])
    },

    ConformanceCase("Once the account comes with something signed, the link leads as any other") {
      store, _ in
      for account: AccountID in ["alice", "bob"] {
        // Bob claims what was imported for Alice; Alice confirms hers.
        let base = account == "alice" ? 10 : 20
        let chain = OriginalTransactionID("\(base)")
        let appTransaction = AppTransactionID("9\(base)")
        try await store.submit(
          [
            TransactionSample("\(base)", chain.rawValue).archived(),
            AppTransactionSample(AppTransactionID("8\(base)")).archived(),
          ], by: "alice")
        let waiting = [
          TransactionSample("\(base + 1)", "\(base + 1)").with { $0.previousChain = chain },
          TransactionSample("\(base + 2)", "\(base + 2)").with {
            $0.appTransaction = appTransaction
          },
          TransactionSample("\(base + 3)", "\(base + 3)").with {
            $0.appTransaction = AppTransactionID("8\(base)")
          },
        ]
        for sample in waiting {
          try expectEqual(try await store.submit(sample).links, [.unlinked])
        }
        try await store.submit(
          [
            TransactionSample("\(base)", chain.rawValue).with {
              $0.appTransaction = appTransaction
            }.signed(),
            AppTransactionSample(AppTransactionID("8\(base)")).signed(),
          ], by: account)
        for sample in waiting {
          try expectEqual(
            try await store.account(of: sample.chain), account, "chain \(sample.chain)")
        }
      }
    },

    ConformanceCase("What an import says of one customer is read together before any account") {
      store, _ in
      let document = Array("an archive".utf8)
      try await store.submit([
        AppTransactionSample("archive:1").archived(document),
        TransactionSample("1", "1").with { $0.appTransaction = "archive:1" }.archived(document),
        TransactionSample("2", "2").with { $0.appTransaction = "archive:1" }.archived(document),
        RenewalSample("2").with { $0.appTransaction = "archive:1" }.archived(document),
      ])
      try expectEqual(
        try await store.customer(.appTransaction("archive:1")).factKeys,
        ["appTransaction/archive:1", "renewalInfo/2", "transaction/1", "transaction/2"])
      // One of them, claimed with something signed, takes the others nowhere.
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      try expectEqual(try await store.customer(.account("alice")).factKeys, ["transaction/1"])
    },

    ConformanceCase("An import never says of which app a signed renewal info is") { store, _ in
      let archived = TransactionSample("1", "1").with {
        $0.scope = AppScope(bundleID: "com.example.other", environment: .production)
      }
      try await store.submit([archived.archived()])
      try expectEqual(try await store.bundleIDs(ofChain: "1", environment: .production), [])
      try await store.submit([TransactionSample("1", "1").signedByReceipt()])
      try expectEqual(
        try await store.bundleIDs(ofChain: "1", environment: .production),
        [readerScope.bundleID])
    },
  ]

  /// Each leads to Alice where Apple signed it.
  private static let hints: [@Sendable (inout TransactionSample) -> Void] = [
    { $0.token = token(1) }, { $0.appTransaction = "900" }, { $0.previousChain = "1" },
  ]
}
