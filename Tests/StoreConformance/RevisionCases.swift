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

    ConformanceCase("An empty submission for an account has no effect") { store, _ in
      let receipt = try await store.submit([], by: "alice")
      try expectEqual(
        receipt,
        CommitReceipt(
          dispositions: [], links: [], customers: [], changed: [], latest: 0,
          notificationWasKnown: false))
      try expectEqual(try await store.accounts(in: readerScope, after: nil, limit: 9), [])
    },

    ConformanceCase("Each change of a customer gives it a greater revision") { store, _ in
      var last: Int64 = 0
      for number in 1...5 {
        let receipt = try await store.submit(
          TransactionSample("\(number)", "1"), by: number == 3 ? "alice" : nil)
        let revision = try unwrap(receipt.customers.map(\.revision).max(), "revision")
        try expect(revision > last, "revision \(revision) after \(last)")
        try expectEqual(
          try await store.customer(.originalTransaction("1")).record.revision, revision)
        last = revision
      }
    },

    ConformanceCase("A chain that gets its account raises the revisions of both customers") {
      store, _ in
      let sample = TransactionSample("1", "1")
      let before = try await store.submit(sample)
      try expectEqual(before.changed, [unlinked("1")])
      let after = try await store.submit(sample, by: "alice")
      try expectEqual(Set(after.changed), [account("alice"), unlinked("1")], "changed")
      let revisions = after.customers.map(\.revision) + [before.customers[0].revision]
      try expectEqual(Set(revisions).count, 3, "distinct revisions")
      try expectEqual(revisions.min(), before.customers[0].revision, "least revision")
    },

    ConformanceCase("The revision in a receipt can be read") { store, _ in
      let first = TransactionSample("1", "1").with { $0.token = token(1) }
      let second = TransactionSample("2", "2").with { $0.appTransaction = "900" }
      let third = TransactionSample("3", "3").with { $0.previousChain = "2" }
      let steps: [(facts: [SignedFact], account: AccountID?)] = [
        ([try first.signed()], nil),
        ([try second.signed(), try third.signed()], nil),
        // A chain that gets an account, with new chains, unlinked chains, and chains that get their
        // account by a hint of this submission.
        ([try first.signed(), try TransactionSample("4", "4").signed()], "alice"),
        ([try TransactionSample("5", "5").with { $0.token = token(1) }.signed()], nil),
        ([try AppTransactionSample("900").signed()], "bob"),
        ([try second.signed(), try first.signed()], "bob"),
        ([try third.signed(), try second.signed()], "carol"),
      ]
      for (number, step) in steps.enumerated() {
        let receipt = try await store.submit(step.facts, by: step.account)
        try expect(!receipt.changed.isEmpty, "step \(number) changes nothing")
        for customer in receipt.customers {
          let stored: StoredCustomer
          switch customer.subject {
          case .account(let scope, let id):
            stored = try await store.customer(.account(id), in: scope)
          case .unlinkedChain(let scope, let chain):
            stored = try await store.customer(.originalTransaction(chain), in: scope)
          }
          try expect(
            stored.record.revision >= customer.revision,
            "step \(number): \(customer) is read as revision \(stored.record.revision)")
        }
      }
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
