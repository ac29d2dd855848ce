import EntitlementDomain
import EntitlementStore

// Anonymous accounts: they hold the purchases of people who have not signed in, and merge into the
// account that claims from them after the sign-in (R44).
extension StoreConformanceSuite {
  private static let visitor: AccountID = "anonymous:1"

  static let anonymousCases =
    LinkPolicy.allCases.map { policy in
      ConformanceCase("Under \(policy.rawValue) an anonymous account merges into its claimer (R44)")
      { store, _ in
        let catalog = PolicySample.catalog(policy)
        try await fillVisitor(store, under: catalog)
        let receipt = try await store.submit(
          [TransactionSample("1", "1").signed()], by: "alice", at: 7_000, under: catalog)
        try expectEqual(receipt.links, [.transferred])
        try expectEqual(Set(receipt.changed), [account(visitor), account("alice")], "changed")
        try expectEqual(receipt.customers.map(\.subject), [account("alice")])
        // Everything was merged, though one chain was claimed.
        try expectEqual(
          try await store.links(of: "alice"), [.chain("1"), .chain("2"), .appTransaction("900")])
        try expectEqual(
          try await store.grants(of: "alice", in: readerScope).map(\.accountID), ["alice"])
        for selector: CustomerSelector in [.account(visitor), .appAccountToken(token(1))] {
          try expectEqual(try await store.customer(selector).subject, account("alice"))
        }
        for target: LinkTarget in [.chain("1"), .chain("2"), .appTransaction("900")] {
          try expectEqual(
            try await store.history(of: target).last,
            LinkEvent(from: visitor, to: "alice", reason: .merged, at: 7_000), "\(target)")
        }
        try expectEqual(try await store.accountIDs(), ["alice"])

        // The device uses its old name for a while.
        let later = try await store.submit(
          [TransactionSample("3", "3").signed(), TransactionSample("1", "1").signed()],
          by: visitor, under: catalog)
        try expectEqual(later.links, [.linked, .unchanged])
        try expectEqual(later.customers.map(\.subject), [account("alice")])
        let again = try await store.submit(TransactionSample("1", "1"), by: "alice", under: catalog)
        try expectEqual(again.links, [.unchanged])
        try expectEqual(again.changed, [])
      }
    } + [
      ConformanceCase(
        "An anonymous account claims like any other, and a claim by it merges no account (R44)"
      ) { store, _ in
        let policies: [(LinkPolicy, LinkOutcome)] = [
          (.keep, .alreadyLinked), (.transferIfInactive, .alreadyLinked), (.transfer, .transferred),
        ]
        try await store.submit(
          [TransactionSample("1", "1").signed(), TransactionSample("2", "2").signed()], by: "alice")
        try await store.submit(TransactionSample("3", "3"), by: "anonymous:2")
        for (policy, outcome) in policies {
          let receipt = try await store.submit(
            [TransactionSample("1", "1").signed(), TransactionSample("3", "3").signed()],
            by: visitor, under: PolicySample.catalog(policy))
          try expectEqual(receipt.links, [outcome, outcome], "under \(policy)")
        }
        try expectEqual(try await store.links(of: "alice"), [.chain("2")])
        try expectEqual(try await store.accountIDs(), ["alice", visitor, "anonymous:2"])
      },

      ConformanceCase("The app says which accounts are anonymous (R44)") { store, _ in
        var catalog = PolicySample.catalog(.keep)
        catalog.apps[readerScope.bundleID]?.anonymousPrefix = "device-"
        try await store.submit(TransactionSample("1", "1"), by: visitor, under: catalog)
        try await store.submit(TransactionSample("2", "2"), by: "device-7", under: catalog)
        let receipt = try await store.submit(
          [TransactionSample("1", "1").signed(), TransactionSample("2", "2").signed()],
          by: "alice", under: catalog)
        try expectEqual(receipt.links, [.alreadyLinked, .transferred])
        try expectEqual(try await store.customer(.account("device-7")).subject, account("alice"))
      },

      ConformanceCase("Unsigned facts merge no account (R44)") { store, _ in
        try await store.submit(TransactionSample("1", "1"), by: visitor)
        let receipt = try await store.submit(
          [TransactionSample("1", "1").with { $0.signedAt = 2_000 }.archived()], by: "alice")
        try expectEqual(receipt.links, [.alreadyLinked])
        try expectEqual(try await store.account(of: "1"), visitor)
      },

      ConformanceCase("One submission may merge several anonymous accounts (R44)") { store, _ in
        for number in 1...3 {
          try await store.submit(
            TransactionSample("\(number)", "\(number)"), by: AccountID("anonymous:\(number)"))
        }
        let receipt = try await store.submit(
          (1...3).map { try TransactionSample("\($0)", "\($0)").signed() }, by: "alice",
          under: PolicySample.catalog(.keep))
        try expectEqual(receipt.links, [.transferred, .transferred, .transferred])
        try expectEqual(try await store.accountIDs(), ["alice"])
        try expectEqual(
          try await store.export("alice", in: readerScope)?.merged,
          ["anonymous:1", "anonymous:2", "anonymous:3"])
      },
    ]

  /// Two chains, a token, an app transaction and a grant of an anonymous account.
  private static func fillVisitor(_ store: any EntitlementStore, under catalog: Catalog)
    async throws
  {
    try await store.submit(
      [
        TransactionSample("1", "1").with { $0.token = token(1) }.signed(),
        TransactionSample("2", "2").signed(), AppTransactionSample("900").signed(),
      ], by: visitor, under: catalog)
    _ = try await store.addGrant(sampleGrant(1) { $0.accountID = visitor })
  }
}
