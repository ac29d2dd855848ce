import EntitlementDomain
import EntitlementStore

// Unlinked chains get an account when their token or app transaction gets one, so the order of
// hints and links does not matter (R3, R42).
extension StoreConformanceSuite {
  static let propagationCases = [
    ConformanceCase("A token that gets an account links the stored chains with that token") {
      store, _ in
      let carrier = TransactionSample("1", "1").with { $0.token = token(1) }
      try await store.submit(carrier)
      try await store.submit([RenewalSample("2").with { $0.token = token(1) }.signed()])
      let receipt = try await store.submit(
        TransactionSample("3", "3").with { $0.token = token(1) }, by: "alice")
      for chain: OriginalTransactionID in ["1", "2", "3"] {
        try expectEqual(try await store.account(of: chain), "alice", "account of \(chain)")
      }
      try expectEqual(
        Set(receipt.changed), [account("alice"), unlinked("1"), unlinked("2")], "changed")
    },

    ConformanceCase("An app transaction that gets an account links its stored chains") {
      store, _ in
      let carrier = TransactionSample("1", "1").with { $0.appTransaction = "900" }
      try await store.submit(carrier)
      try await store.submit([AppTransactionSample("900").signed()], by: "alice")
      try expectEqual(try await store.account(of: "1"), "alice")
      try expectEqual(
        try await store.linkHistory(of: .chain("1"), in: readerScope).map(\.reason),
        [.appTransaction])
    },

    ConformanceCase("A later chain links the earlier ones of its app transaction") {
      store, _ in
      try await store.submit(TransactionSample("1", "1").with { $0.appTransaction = "900" })
      try await store.submit(TransactionSample("2", "2"), by: "alice")
      // The chain is already linked; the fact with the app transaction id comes later.
      try await store.submit(
        TransactionSample("3", "2").with {
          $0.appTransaction = "900"; $0.signedAt = 2_000
        })
      try expectEqual(try await store.account(of: "1"), "alice")
    },

    ConformanceCase("A chain without a link inherits the account of its previous chains (R7)") {
      store, _ in
      try await store.submit(TransactionSample("3", "3").with { $0.previousChain = "2" })
      try await store.submit(TransactionSample("2", "2").with { $0.previousChain = "1" })
      try expectEqual(try await store.account(of: "3"), nil)
      let receipt = try await store.submit(TransactionSample("1", "1"), by: "alice")
      try expectEqual(try await store.account(of: "2"), "alice")
      try expectEqual(try await store.account(of: "3"), "alice")
      try expectEqual(
        Set(receipt.changed), [account("alice"), unlinked("2"), unlinked("3")], "changed")
    },

    ConformanceCase("A chain that is its own previous chain stays unlinked") { store, _ in
      try await store.submit(TransactionSample("1", "1").with { $0.previousChain = "1" })
      try expectEqual(try await store.account(of: "1"), nil)
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      try expectEqual(try await store.account(of: "1"), "alice")
    },

    ConformanceCase("A later fact with a hint links an unlinked chain") { store, _ in
      try await store.submit(
        TransactionSample("9", "9").with { $0.token = token(1) }, by: "alice")
      try await store.submit(TransactionSample("1", "1"))
      try expectEqual(try await store.account(of: "1"), nil)
      let receipt = try await store.submit(
        TransactionSample("2", "1").with { $0.token = token(1) })
      try expectEqual(try await store.account(of: "1"), "alice")
      try expectEqual(Set(receipt.changed), [account("alice"), unlinked("1")], "changed")
    },

    ConformanceCase("The links of an account do not depend on the order of its submissions (R3)") {
      store, _ in
      let unnamed = [
        TransactionSample("1", "1").with {
          $0.token = token(1); $0.appTransaction = "900"
        },
        TransactionSample("2", "2").with { $0.appTransaction = "900" },
        TransactionSample("3", "3").with { $0.previousChain = "2" },
      ]
      let named = TransactionSample("4", "4").with { $0.token = token(1) }
      for (number, order) in [0, 1, 2, 3].permutations().enumerated() {
        let scope = AppScope(
          bundleID: BundleID("com.example.order.\(number)"), environment: .sandbox)
        for step in order {
          let sample = (step < unnamed.count ? unnamed[step] : named).with { $0.scope = scope }
          try await store.submit(sample, by: step < unnamed.count ? nil : "alice")
        }
        let alice = try await store.customer(.account("alice"), in: scope)
        try expectEqual(alice.record.facts.count, 4, "facts after the order \(order)")
      }
    },
  ]
}
