import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let claimCases = [
    ConformanceCase("A claim moves the chain, and both accounts see it (R44)") { store, _ in
      let sample = TransactionSample("1", "1")
      try await store.submit([sample.signed(), TransactionSample("2", "2").signed()], by: "alice")
      let before = try await store.customer(.account("alice")).record.revision
      let receipt = try await store.submit([sample.signed()], by: "bob", at: 7_000)

      try expectEqual(receipt.dispositions, [.duplicate])
      try expectEqual(Set(receipt.changed), [account("alice"), account("bob")], "changed")
      let alice = try await store.customer(.account("alice"))
      let bob = try await store.customer(.account("bob"))
      try expectEqual(alice.factKeys, ["transaction/2"])
      try expectEqual(bob.factKeys, ["transaction/1"])
      try expect(alice.record.revision > before, "the revision of the former owner did not grow")
      // The claimer does not learn the former owner.
      try expectEqual(
        receipt.customers,
        [CustomerRevision(subject: account("bob"), revision: bob.record.revision)], "customers")
      try expectEqual(
        try await store.linkHistory(of: .chain("1"), in: readerScope),
        [
          LinkEvent(from: nil, to: "alice", reason: .named, at: 5_000),
          LinkEvent(from: "alice", to: "bob", reason: .claimed, at: 7_000),
        ])
      let kinds = try await store.feed().suffix(2)
      try expectEqual(
        Dictionary(uniqueKeysWithValues: kinds.map { ($0.subject, $0.kinds) }),
        [account("alice"): .unlinked, account("bob"): .linked], "kinds")
    },

    ConformanceCase("A submission for one account reports no other account (R7, R44)") { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      try await store.submit(TransactionSample("2", "2"), by: "bob")
      try await store.submit(TransactionSample("3", "3"))
      // It moves from one account's chain to the other's; an unlinked chain is part of the
      // submission.
      let facts = [
        try TransactionSample("1", "2").with { $0.signedAt = 2_000 }.signed(),
        try TransactionSample("3", "3").signed(),
      ]
      let receipt = try await store.submit(facts, by: "bob")
      try expectEqual(
        Set(receipt.changed), [account("alice"), account("bob"), unlinked("3")], "changed")
      try expectEqual(Set(receipt.customers.map(\.subject)), [account("bob"), unlinked("3")])
      // A notification has no account: it reports every customer that it concerns.
      let notified = try await store.submit([
        TransactionSample("1", "1").with { $0.signedAt = 3_000 }.signed()
      ])
      try expectEqual(
        Set(notified.customers.map(\.subject)), [account("alice"), account("bob")])
    },

    ConformanceCase("Repeating a claim does nothing (R45)") { store, _ in
      let sample = TransactionSample("1", "1")
      try await store.submit(sample, by: "alice")
      try await store.submit(sample, by: "bob")
      let feed = try await store.feed()
      let revision = try await store.customer(.account("bob")).record.revision
      let again = try await store.submit(sample, by: "bob")
      try expectEqual(again.changed, [])
      try expectEqual(
        again.customers, [CustomerRevision(subject: account("bob"), revision: revision)])
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.linkHistory(of: .chain("1"), in: readerScope).count, 2)
    },

    ConformanceCase("A claim with new facts stores them") { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      let receipt = try await store.submit(
        TransactionSample("2", "1").with { $0.signedAt = 2_000 }, by: "bob")
      try expectEqual(receipt.dispositions, [.added])
      try expectEqual(try await store.customer(.account("alice")).factKeys, [])
      try expectEqual(
        try await store.customer(.account("bob")).factKeys, ["transaction/1", "transaction/2"])
      try expectEqual(
        try await store.accounts(in: readerScope, after: nil, limit: 9).map(\.chainCount), [0, 1])
    },

    ConformanceCase(
      "An app transaction is claimed by its own fact, not by the chains that carry it"
    ) { store, _ in
      let chain = TransactionSample("1", "1").with { $0.appTransaction = "900" }
      try await store.submit([chain.signed(), AppTransactionSample("900").signed()], by: "alice")
      try await store.submit(chain, by: "bob")
      try expectEqual(try await store.account(of: "1"), "bob")
      try expectEqual(
        try await store.customer(.account("alice")).factKeys, ["appTransaction/900"])

      let receipt = try await store.submit([AppTransactionSample("900").signed()], by: "bob")
      try expectEqual(Set(receipt.changed), [account("alice"), account("bob")], "changed")
      try expectEqual(try await store.customer(.account("alice")).factKeys, [])
      try expectEqual(
        try await store.customer(.account("bob")).factKeys,
        ["appTransaction/900", "transaction/1"])
      let again = try await store.submit([AppTransactionSample("900").signed()], by: "bob")
      try expectEqual(again.changed, [])
    },
  ]
}
