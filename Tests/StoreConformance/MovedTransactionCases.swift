import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let movedTransactionCases = [
    ConformanceCase("A transaction moves to the chain of its latest version (R7)") {
      store, _ in
      let old = TransactionSample("1", "10")
      let new = old.with {
        $0.chain = "20"; $0.signedAt = 2_000
      }
      try await store.submit(old, by: "alice")
      try await store.submit(TransactionSample("2", "20"), by: "bob")
      let receipt = try await store.submit(new)

      try expectEqual(receipt.dispositions, [.replaced])
      try expectEqual(Set(receipt.changed), [account("alice"), account("bob")], "changed")
      let alice = try await store.customer(.account("alice"))
      try expectEqual(alice.factKeys, [])
      let bob = try await store.customer(.account("bob"))
      try expectEqual(bob.factKeys, ["transaction/1", "transaction/2"])
      try expectEqual(try await store.customer(.transaction("1")), bob)
    },

    ConformanceCase("Every chain that a version of a transaction names has its app (R55)") {
      store, _ in
      let old = TransactionSample("1", "10")
      let new = old.with {
        $0.chain = "20"; $0.signedAt = 2_000
      }
      for (order, samples) in [("in order", [old, new]), ("late", [new, old])] {
        let renamed = samples.map { sample in
          sample.with {
            $0.id = TransactionID("\(order)-1")
            $0.chain = OriginalTransactionID("\(order)-\($0.chain)")
          }
        }
        for sample in renamed { try await store.submit(sample) }
        for sample in renamed {
          let bundles = try await store.bundleIDs(ofChain: sample.chain, environment: .production)
          try expectEqual(bundles, [sample.scope.bundleID], "\(order), \(sample.chain)")
        }
      }
      try expectEqual(try await store.bundleIDs(ofChain: "30", environment: .production), [])
      try expectEqual(try await store.bundleIDs(ofChain: "10", environment: .sandbox), [])
    },

    ConformanceCase(
      "An older version that arrives late does not move a transaction back (R3, R7)"
    ) { store, _ in
      let old = TransactionSample("1", "10")
      let new = old.with {
        $0.chain = "20"; $0.signedAt = 2_000
      }
      try await store.submit(new)
      // It claims the transaction, which belongs to the chain of the standing version.
      let receipt = try await store.submit(old, by: "alice")

      try expectEqual(receipt.dispositions, [.superseded])
      try expectEqual(try await store.account(of: "20"), "alice")
      try expectEqual(try await store.customer(.originalTransaction("10")).record.facts, [])
      try expectEqual(try await store.account(of: "10"), nil)
    },

    ConformanceCase("Both unlinked chains change when a transaction moves (R7)") { store, _ in
      let old = TransactionSample("1", "10")
      try await store.submit(old)
      let receipt = try await store.submit(
        old.with {
          $0.chain = "20"; $0.signedAt = 2_000
        })
      try expectEqual(Set(receipt.changed), [unlinked("10"), unlinked("20")], "changed")
      try expectEqual(try await store.customer(.originalTransaction("10")).factKeys, [])
      try expectEqual(
        try await store.customer(.originalTransaction("20")).factKeys, ["transaction/1"])
    },
  ]
}
