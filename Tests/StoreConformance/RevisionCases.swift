import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let revisionCases = [
    ConformanceCase("A submission that changes nothing moves no revision") { store, _ in
      let facts = [
        try TransactionSample("1", "1").with {
          $0.token = token(1); $0.appTransaction = "900"
        }
        .signed(),
        try RenewalSample("1").signed(), try AppTransactionSample("900").signed(),
      ]
      let first = try await store.submit(facts, by: "alice")
      let feed = try await store.feed()
      for account: AccountID? in ["alice", nil] {
        let again = try await store.submit(facts, by: account)
        try expectEqual(again.dispositions, [.duplicate, .duplicate, .duplicate])
        try expectEqual(again.changed, [])
        try expectEqual(again.customers, first.customers)
      }
      let superseded = try await store.submit([
        TransactionSample("1", "1").with { $0.signedAt = 1 }.signed()
      ])
      try expectEqual(superseded.dispositions, [.superseded])
      try expectEqual(superseded.changed, [])
      try expectEqual(superseded.customers, first.customers)
      try expectEqual(try await store.feed(), feed)
    },

    ConformanceCase("An empty submission names an account to no effect") { store, _ in
      let receipt = try await store.submit([], by: "alice")
      try expectEqual(
        receipt,
        CommitReceipt(dispositions: [], customers: [], changed: [], notificationWasKnown: false))
      try expectEqual(try await store.accounts(in: readerScope, after: nil, limit: 9), [])
    },

    ConformanceCase("Each change of a customer gives it a greater revision") { store, _ in
      var last: Int64 = 0
      for number in 1...5 {
        let receipt = try await store.submit(
          TransactionSample("\(number)", "1"), by: number == 3 ? "alice" : nil)
        let revision = try unwrap(receipt.customers.first?.revision, "revision")
        try expect(revision > last, "revision \(revision) after \(last)")
        try expectEqual(
          try await store.customer(.originalTransaction("1")).record.revision, revision)
        last = revision
      }
    },

    ConformanceCase("A chain that finds its account moves both customers on") { store, _ in
      let sample = TransactionSample("1", "1")
      let before = try await store.submit(sample)
      try expectEqual(before.changed, [unlinked("1")])
      let after = try await store.submit(sample, by: "alice")
      try expectEqual(Set(after.changed), [account("alice"), unlinked("1")], "changed")
      let revisions = after.customers.map(\.revision) + [before.customers[0].revision]
      try expectEqual(Set(revisions).count, 3, "distinct revisions")
      try expectEqual(revisions.min(), before.customers[0].revision, "least revision")
    },

    ConformanceCase("A receipt names each customer once") { store, _ in
      try await store.submit(TransactionSample("9", "9"), by: "bob")
      let receipt = try await store.submit([
        TransactionSample("1", "1").signed(), RenewalSample("1").signed(),
        TransactionSample("2", "1").signed(), TransactionSample("3", "3").signed(),
        TransactionSample("9", "9").signed(),
      ])
      try expectEqual(
        receipt.customers.map(\.subject), [unlinked("1"), unlinked("3"), account("bob")])
      try expectEqual(receipt.changed, [unlinked("1"), unlinked("3")])
    },
  ]
}
