import EntitlementDomain
import EntitlementStore

// Claims under each policy (R44). Claims under the default policy are in ``claimCases``.
extension StoreConformanceSuite {
  /// The target of a claim, and whether it confers anything at that time.
  private struct Claim: Sendable {
    let name: String
    let isActive: Bool
    let sample: any FactSample & Sendable
    let at: Milliseconds
  }

  private static let claims = [
    Claim(
      name: "a chain in force", isActive: true, sample: TransactionSample("1", "1"),
      at: PolicySample.early),
    Claim(
      name: "an expired chain", isActive: false, sample: TransactionSample("1", "1"),
      at: PolicySample.late),
    Claim(
      name: "a refunded chain", isActive: false,
      sample: TransactionSample("1", "1").with { $0.isRevoked = true }, at: PolicySample.early),
    Claim(
      name: "an app transaction that confers", isActive: true,
      sample: AppTransactionSample("900").with { $0.purchasedAt = 3_000 },
      at: PolicySample.early),
    Claim(
      name: "an app transaction that confers nothing", isActive: false,
      sample: AppTransactionSample("900").with { $0.purchasedAt = 4_500 },
      at: PolicySample.early),
  ]

  static let linkPolicyCases =
    ([nil] + LinkPolicy.allCases).flatMap { policy in
      claims.map { claim in
        ConformanceCase("Under \(policy?.rawValue ?? "no policy") somebody claims \(claim.name)") {
          store, _ in
          let isGranted =
            switch policy {
            case nil, .transfer: true
            case .transferIfInactive: !claim.isActive
            case .keep: false
            }
          try await expect(claim, under: policy, isGranted: isGranted, in: store)
        }
      }
    } + furtherPolicyCases

  private static func expect(
    _ claim: Claim, under policy: LinkPolicy?, isGranted: Bool, in store: any EntitlementStore
  ) async throws {
    let catalog = PolicySample.catalog(policy)
    let facts = [try claim.sample.signed()]
    let first = try await store.submit(facts, by: "alice", at: claim.at, under: catalog)
    try expectEqual(first.links, [.linked])
    let alice = try await store.customer(.account("alice")).record
    let feed = try await store.feed()
    // A claimed app transaction is ambiguous from then on (R71), which its owner's answers depend on.
    let ambiguities = facts[0].fact.chain == nil ? 1 : 0

    for repetition in 0..<2 {
      let receipt = try await store.submit(facts, by: "bob", at: claim.at, under: catalog)
      try expectEqual(receipt.dispositions, [.duplicate])
      let bob = try await store.customer(.account("bob")).record
      if isGranted {
        try expectEqual(receipt.links, [repetition == 0 ? .transferred : .unchanged])
        try expectEqual(
          Set(receipt.changed), repetition == 0 ? [account("alice"), account("bob")] : [])
        try expectEqual(bob.facts, alice.facts)
        try expectEqual(try await store.customer(.account("alice")).record.facts, [])
        try expectEqual(try await store.feed().count, feed.count + 2 + ambiguities)
      } else {
        // As before the claim: the answer names no account, and no account is created.
        try expectEqual(receipt.links, [.alreadyLinked])
        try expectEqual(receipt.customers, [])
        try expectEqual(
          receipt.changed, repetition == 0 && ambiguities > 0 ? [account("alice")] : [])
        try expectEqual(bob.facts, [])
        try expectEqual(try await store.customer(.account("alice")).record.facts, alice.facts)
        try expectEqual(try await store.feed().count, feed.count + 2 * ambiguities)
        try expectEqual(
          try await store.accounts(in: readerScope, after: nil, limit: 9).map(\.accountID),
          ["alice"])
      }
    }
    if facts[0].fact.chain != nil {
      try expectEqual(
        try await store.linkHistory(of: .chain("1"), in: readerScope).map(\.reason),
        isGranted ? [.named, .claimed] : [.named])
    }
  }

  private static let furtherPolicyCases = [
    ConformanceCase("A policy applies to its own environment only (R44)") { store, _ in
      let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      let catalog = PolicySample.catalog(.keep)
      for (scope, outcome) in [(readerScope, LinkOutcome.alreadyLinked), (sandbox, .transferred)] {
        let sample = TransactionSample("1", "1").with { $0.scope = scope }
        try await store.submit(sample, by: "alice", under: catalog)
        try expectEqual(
          try await store.submit(sample, by: "bob", under: catalog).links, [outcome])
      }
    },

    ConformanceCase("A claim is judged with the facts that it brings (R44)") {
      store, _ in
      let catalog = PolicySample.catalog(.transferIfInactive)
      try await store.submit(TransactionSample("1", "1"), by: "alice", under: catalog)
      let refund = TransactionSample("1", "1").with {
        $0.signedAt = 2_000; $0.isRevoked = true
      }
      let granted = try await store.submit(refund, by: "bob", under: catalog)
      try expectEqual(granted.links, [.transferred])

      try await store.submit(
        TransactionSample("2", "2").with { $0.isRevoked = true }, by: "alice", under: catalog)
      let refused = try await store.submit(
        [
          TransactionSample("2", "2").with { $0.isRevoked = true }.signed(),
          TransactionSample("3", "2").signed(),
        ], by: "bob", under: catalog)
      try expectEqual(refused.dispositions, [.duplicate, .added])
      try expectEqual(refused.links, [.alreadyLinked, .alreadyLinked])
      try expectEqual(try await store.account(of: "2"), "alice")
    },

    ConformanceCase(
      "An active chain stays, also if the catalog does not have its product (R14, R44)"
    ) { store, _ in
      // The product was added to the App Store before it was added to the catalog.
      let catalog = PolicySample.catalog(.transferIfInactive)
      let sample = TransactionSample("1", "1").with { $0.productID = "com.example.reader.new" }
      try await store.submit(sample, by: "alice", at: PolicySample.early, under: catalog)
      for (at, outcome) in [
        (PolicySample.early, LinkOutcome.alreadyLinked), (PolicySample.late, .transferred),
      ] {
        let receipt = try await store.submit(sample, by: "bob", at: at, under: catalog)
        try expectEqual(receipt.links, [outcome])
      }
    },

    ConformanceCase("Other purchases of the owner do not make a chain active (R44)") { store, _ in
      let catalog = PolicySample.catalog(.transferIfInactive)
      let refunded = TransactionSample("1", "1").with { $0.isRevoked = true }
      try await store.submit(
        [refunded.signed(), TransactionSample("2", "2").signed()], by: "alice", under: catalog)
      let receipt = try await store.submit(refunded, by: "bob", under: catalog)
      try expectEqual(receipt.links, [.transferred])
      try expectEqual(try await store.account(of: "2"), "alice")
    },

    ConformanceCase(
      "Every policy allows the owner, a first link, and a submission without an account"
    ) { store, _ in
      let catalog = PolicySample.catalog(.keep)
      let sample = TransactionSample("1", "1")
      try expectEqual(try await store.submit(sample, under: catalog).links, [.unlinked])
      try expectEqual(
        try await store.submit(sample, by: "alice", under: catalog).links, [.linked])
      for account: AccountID? in ["alice", nil] {
        let receipt = try await store.submit(sample, by: account, under: catalog)
        try expectEqual(receipt.links, [.unchanged])
        try expectEqual(receipt.customers.map(\.subject), [.account(readerScope, "alice")])
      }
      try expectEqual(
        try await store.submit(TransactionSample("2", "1"), under: catalog).links, [.unchanged])
    },

    ConformanceCase("A receipt has the link outcome of each fact") { store, _ in
      let catalog = PolicySample.catalog(.transferIfInactive)
      try await store.submit(
        [
          TransactionSample("1", "1").signed(), AppTransactionSample("901").signed(),
          TransactionSample("2", "2").with { $0.isRevoked = true }.signed(),
        ], by: "alice", under: catalog)
      try await store.submit(TransactionSample("3", "3"), by: "bob", under: catalog)
      let receipt = try await store.submit(
        [
          TransactionSample("4", "4").signed(), TransactionSample("1", "1").signed(),
          RenewalSample("4").signed(), TransactionSample("2", "2").signed(),
          RenewalSample("3").signed(), AppTransactionSample("902").signed(),
          AppTransactionSample("901").signed(), RenewalSample("1").signed(),
        ], by: "bob", under: catalog)
      try expectEqual(
        receipt.links,
        [
          .linked, .alreadyLinked, .linked, .transferred, .unchanged, .linked, .transferred,
          .alreadyLinked,
        ])
      try expectEqual(
        try await store.submit([
          RenewalSample("5").signed(), AppTransactionSample("903").signed(),
          TransactionSample("1", "1").signed(),
        ]).links, [.unlinked, .unlinked, .unchanged])
    },
  ]
}
