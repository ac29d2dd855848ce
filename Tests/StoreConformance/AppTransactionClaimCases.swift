import EntitlementDomain
import EntitlementStore

// Later chains of a customer follow an app transaction (R42). Under `transfer_if_inactive` the app
// transaction stays with its account while a chain that carries it is active (R44).
extension StoreConformanceSuite {
  private static let catalog = PolicySample.catalog(.transferIfInactive)

  private static func chain(_ number: Int, _ app: AppTransactionID?) -> TransactionSample {
    TransactionSample("\(number)", "\(number)").with { $0.appTransaction = app }
  }

  static let appTransactionClaimCases = [
    ConformanceCase(
      "An active chain of the owner keeps the app transaction that it carries (R44)"
    ) { store, _ in
      try await store.submit(
        [chain(1, "900").signed(), AppTransactionSample("900").signed()], by: "alice",
        under: catalog)
      let claim = AppTransactionSample("900")
      let refused = try await store.submit(
        claim, by: "bob", at: PolicySample.early, under: catalog)
      try expectEqual(refused.links, [.alreadyLinked])
      try expectEqual(refused.customers, [])
      // Her next purchase waits for her app: two accounts presented the id (R71).
      try await store.submit(chain(2, "900"), under: catalog)
      try expectEqual(try await store.account(of: "2"), nil)
      try await store.submit(chain(2, "900"), by: "alice", under: catalog)
      // When all chains have expired, the app transaction may move.
      try expectEqual(
        try await store.submit(claim, by: "bob", at: PolicySample.late, under: catalog).links,
        [.transferred])
    },

    ConformanceCase("A renewal info alone keeps an app transaction, also before its fact") {
      store, _ in
      try await store.submit(
        [
          chain(1, nil).signed(), RenewalSample("1").with { $0.appTransaction = "900" }.signed(),
        ], by: "alice", under: catalog)
      try expectEqual(
        try await store.submit(AppTransactionSample("900"), by: "bob", under: catalog).links,
        [.alreadyLinked])
      try expectEqual(
        try await store.links(of: "alice"), [.chain("1"), .appTransaction("900")])
    },

    ConformanceCase("A chain of another account or app transaction does not keep it") {
      store, _ in
      let facts = [
        try chain(1, "900").with { $0.isRevoked = true }.signed(),
        try AppTransactionSample("900").signed(), try chain(2, "901").signed(),
        try chain(3, nil).signed(),
      ]
      try await store.submit(facts, by: "alice", under: catalog)
      // Of the same Apple customer, but of another account.
      try await store.submit(chain(4, "900"), by: "carol", under: catalog)
      try expectEqual(
        try await store.submit(AppTransactionSample("900"), by: "bob", under: catalog).links,
        [.transferred])
      try expectEqual(
        try await store.submit(AppTransactionSample("901"), by: "bob", under: catalog).links,
        [.alreadyLinked])
    },

    ConformanceCase("A chain that moves with the same claim no longer keeps its app transaction") {
      store, _ in
      let facts = [
        try chain(1, "900").signed(), try chain(2, "900").signed(),
        try AppTransactionSample("900").signed(),
      ]
      try await store.submit(facts, by: "alice", under: catalog)
      let refund = try chain(1, "900").with {
        $0.signedAt = 2_000; $0.isRevoked = true
      }.signed()
      let claim = [facts[2], refund]
      try expectEqual(
        try await store.submit(claim, by: "bob", under: catalog).links,
        [.alreadyLinked, .transferred])
      // The other chain keeps it; then no chain is left.
      try await store.done(.unlink(.chain("2")))
      try expectEqual(
        try await store.submit(claim, by: "bob", under: catalog).links,
        [.transferred, .unchanged])
    },
  ]
}
