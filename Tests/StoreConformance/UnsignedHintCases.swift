import EntitlementDomain
import EntitlementStore

// Unsigned facts are no hints (R42, R43): they link no signed purchase to an account until the
// account submits a signed fact of the same chain.
extension StoreConformanceSuite {
  static let unsignedHintCases = [
    ConformanceCase("The token of an import is bound to no account and finds none (R43)") {
      store, _ in
      let imported = TransactionSample("1", "1").with { $0.token = token(1) }
      try await store.submit([imported.archived()], by: "alice")
      try await store.submit(TransactionSample("2", "2").with { $0.token = token(1) })
      try expectEqual(try await store.account(of: "2"), nil, "a signed purchase with that token")
      let found = try await store.customer(.appAccountToken(token(1))).record
      try expectEqual(found.accountID, nil)
      try expectEqual(found.facts.map(\.key.identifier), ["2"])
    },

    ConformanceCase("The hints of an import do not link it to an account (R42)") { store, _ in
      try await store.submit(
        TransactionSample("1", "1").with {
          $0.token = token(1); $0.appTransaction = "900"
        }, by: "alice")
      for (number, change) in hints.enumerated() {
        let chain = OriginalTransactionID("1\(number)")
        // Signed by Apple, without an account.
        try await store.submit(TransactionSample("2\(number)", chain.rawValue))
        try await store.submit([
          TransactionSample("3\(number)", chain.rawValue).with(change).archived()
        ])
        try expectEqual(try await store.account(of: chain), nil, "hint \(number)")
        // The same facts, signed, are linked to the account.
        try await store.submit(
          TransactionSample("3\(number)", chain.rawValue).with(change))
        try expectEqual(try await store.account(of: chain), "alice", "hint \(number), signed")
      }
    },

    ConformanceCase("An import adds no hints for a linked chain (R42, R43)") {
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
      "The link of an import does not propagate to signed facts, in any order (R7, R42)"
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

    ConformanceCase(
      "A signed fact alone does not make the link of an imported chain propagate (R42)"
    ) { store, _ in
      try await store.submit([TransactionSample("1", "1").archived()], by: "alice")
      try await store.submit(TransactionSample("9", "9").with { $0.appTransaction = "900" })
      // A notification of its renewal: it names no account.
      let renewed = TransactionSample("2", "1").with { $0.appTransaction = "900" }
      try expectEqual(try await store.submit(renewed).links, [.unchanged])
      try expectEqual(try await store.account(of: "9"), nil)
      try expectEqual(
        try await store.customer(.account("alice")).factKeys, ["transaction/1", "transaction/2"])
      try expectEqual(
        try await store.customer(.appTransaction("900")).factKeys, ["transaction/9"])
    },

    ConformanceCase("After a signed submission by the account, the link propagates as usual") {
      store, _ in
      for account: AccountID in ["alice", "bob"] {
        // Bob claims the purchase that was imported for Alice; Alice submits her own.
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

    ConformanceCase("Before any account, the facts of an imported customer are read together") {
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
      // A signed claim of one of them links no others.
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      try expectEqual(try await store.customer(.account("alice")).factKeys, ["transaction/1"])
    },

    ConformanceCase("An import never sets the app of a signed renewal info") { store, _ in
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

  /// Each of them links to Alice when Apple signed it.
  private static let hints: [@Sendable (inout TransactionSample) -> Void] = [
    { $0.token = token(1) }, { $0.appTransaction = "900" }, { $0.previousChain = "1" },
  ]
}
