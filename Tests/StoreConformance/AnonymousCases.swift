import EntitlementDomain
import EntitlementStore

// Anonymous accounts: they hold the purchases of people who have not signed in, and merge into the
// account that a submission names with them after the sign-in (R75).
extension StoreConformanceSuite {
  private static let visitor: AccountID = "anonymous:1"

  static let anonymousCases =
    LinkPolicy.allCases.map { policy in
      ConformanceCase(
        "Under \(policy.rawValue) an anonymous account merges into the one named with it (R75)"
      ) { store, _ in
        let catalog = PolicySample.catalog(policy)
        try await fillVisitor(store, under: catalog)
        let receipt = try await store.submit(
          [TransactionSample("1", "1").signed()], by: "alice", anonymous: visitor, at: 7_000,
          under: catalog)
        try expectEqual(receipt.links, [.transferred])
        try expectEqual(Set(receipt.changed), [account(visitor), account("alice")], "changed")
        try expectEqual(receipt.customers.map(\.subject), [account("alice")])
        // Everything was merged, though one chain was submitted.
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
        let again = try await store.submit(
          TransactionSample("1", "1"), by: "alice", anonymous: visitor, under: catalog)
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

      ConformanceCase("One leaked transaction takes one purchase of an anonymous account (R44)") {
        store, _ in
        let policies: [(LinkPolicy, LinkOutcome)] = [
          (.keep, .alreadyLinked), (.transferIfInactive, .alreadyLinked), (.transfer, .transferred),
        ]
        try await fillVisitor(store, under: PolicySample.catalog(.keep))
        for (policy, outcome) in policies {
          let receipt = try await store.submit(
            TransactionSample("1", "1"), by: "mallory", under: PolicySample.catalog(policy))
          try expectEqual(receipt.links, [outcome], "under \(policy)")
        }
        try expectEqual(
          try await store.links(of: visitor), [.chain("2"), .appTransaction("900")])
        try expectEqual(
          try await store.grants(of: visitor, in: readerScope).map(\.accountID), [visitor])
        try expectEqual(try await store.accountIDs(), [visitor, "mallory"])
      },

      ConformanceCase("Only an account that is anonymous is merged by a submission (R75)") {
        store, _ in
        var catalog = PolicySample.catalog(.keep)
        catalog.apps[readerScope.bundleID]?.anonymousPrefix = "device-"
        try await store.submit(TransactionSample("1", "1"), by: visitor, under: catalog)
        try await store.submit(TransactionSample("2", "2"), by: "device-7", under: catalog)
        for name: AccountID in [visitor, "nobody", "device-0", "alice"] {
          let receipt = try await store.submit(
            [TransactionSample("1", "1").signed(), TransactionSample("2", "2").signed()],
            by: "alice", anonymous: name, under: catalog)
          try expectEqual(receipt.links, [.alreadyLinked, .alreadyLinked], "with \(name)")
        }
        let receipt = try await store.submit(
          [TransactionSample("1", "1").signed(), TransactionSample("2", "2").signed()],
          by: "alice", anonymous: "device-7", under: catalog)
        try expectEqual(receipt.links, [.alreadyLinked, .transferred])
        try expectEqual(try await store.customer(.account("device-7")).subject, account("alice"))
        // What the id leads to now is no longer anonymous.
        try await store.submit(
          TransactionSample("9", "9"), by: "bob", anonymous: "device-7", under: catalog)
        try expectEqual(try await store.links(of: "alice"), [.chain("2")])
      },

      ConformanceCase("A claim merges no account (R44)") { store, _ in
        try await store.submit(TransactionSample("1", "1"), by: visitor)
        let receipt = try await store.submit(
          [TransactionSample("1", "1").with { $0.signedAt = 2_000 }.archived()], by: "alice")
        try expectEqual(receipt.links, [.alreadyLinked])
        try expectEqual(try await store.account(of: "1"), visitor)
      },

      ConformanceCase("A merge by a submission is no claim, and its claims add up (R75)") {
        store, _ in
        var catalog = PolicySample.catalog(.transfer)
        catalog.apps[readerScope.bundleID]?.claimsPerDay = 1
        try await store.submit(TransactionSample("1", "1"), by: "bob")
        try await store.submit(TransactionSample("2", "2"), by: visitor)
        try await store.submit(TransactionSample("3", "3"), by: "anonymous:2")
        try await store.submit(TransactionSample("1", "1"), by: "anonymous:2", under: catalog)
        for number in 1...2 {
          try await store.submit(
            TransactionSample("9", "9"), by: "alice",
            anonymous: AccountID("anonymous:\(number)"), under: catalog)
        }
        try expectEqual(
          try await store.export("alice", in: readerScope)?.merged, [visitor, "anonymous:2"])
        try await store.submit(TransactionSample("4", "4"), by: "bob")
        let receipt = try await store.submit(
          TransactionSample("4", "4"), by: "alice", under: catalog)
        try expectEqual(receipt.links, [.claimLimited])
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
