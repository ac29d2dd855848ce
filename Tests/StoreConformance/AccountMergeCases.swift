import EntitlementDomain
import EntitlementStore

// Merges of accounts by name (R46): afterwards the merged account is known under the other id.
extension StoreConformanceSuite {
  static let accountMergeCases = [
    ConformanceCase("A merge moves everything of one account to another (R46)") { store, _ in
      try await fillAlice(store)
      try await store.submit(TransactionSample("2", "2"), by: "bob")
      let alice = try await store.customer(.account("alice")).record
      let targets: [LinkTarget] = [.chain("1"), .appTransaction("900")]
      let receipt = try await store.done(.merge("alice", into: "bob"), at: 9_000)
      try expectEqual(receipt.targets, targets)
      try expectEqual(Set(receipt.changed), [account("alice"), account("bob")], "changed")

      let bob = try await store.customer(.account("bob"))
      try expectEqual(
        bob.factKeys, ["appTransaction/900", "transaction/1", "transaction/2"])
      try expectEqual(
        bob.record.grants, [sampleGrant(1) { $0.accountID = "bob" }], "grants")
      try expect(bob.record.revision > alice.revision, "the name's revision went back")
      try expectEqual(try await store.accountIDs(), ["bob"])
      for target in targets {
        try expectEqual(
          try await store.history(of: target).last,
          LinkEvent(
            from: "alice", to: "bob", reason: .merged, author: LinkAuthor(sampleCaller("otto")),
            onBehalfOf: "ada",
            note: "a ticket", at: 9_000))
      }
      let last = try await store.feed().suffix(2)
      try expectEqual(Set(last.map(\.subject)), [account("alice"), account("bob")], "told of")
      try expect(last.allSatisfy { $0.kinds.contains(.merged) }, "kinds: \(last.map(\.kinds))")
      try expectEqual(
        last.first { $0.subject == account("bob") }?.sequence, bob.record.revision, "revision")
    },

    ConformanceCase("Every read by the name of a merged account returns the other account") {
      store, _ in
      try await fillAlice(store)
      try await store.done(.merge("alice", into: "bob"))
      let bob = try await store.customer(.account("bob"))
      try expectEqual(bob.subject, account("bob"))
      let selectors: [CustomerSelector] = [
        .account("alice"), .originalTransaction("1"), .transaction("1"), .appTransaction("900"),
        .appAccountToken(token(1)),
      ]
      for selector in selectors {
        let customer = try await store.customer(selector)
        try expectEqual(customer.record.accountID, "bob", "\(selector)")
        try expectEqual(Set(customer.record.facts), Set(bob.record.facts), "\(selector)")
        try expectEqual(customer.subject, account("bob"), "\(selector)")
        try expectEqual(
          try await store.resolve(selector, in: readerScope),
          ResolvedCustomer(subject: account("bob"), revision: bob.record.revision), "\(selector)")
      }
      try expectEqual(try await store.links(of: "alice"), [.chain("1"), .appTransaction("900")])
      try expectEqual(
        try await store.grants(of: "alice", in: readerScope),
        try await store.grants(of: "bob", in: readerScope))
      try expectEqual(
        try await store.linkHistory(of: "alice", in: readerScope),
        try await store.linkHistory(of: AccountID("bob"), in: readerScope))
      try expectEqual(
        try await store.export("alice", in: readerScope),
        try await store.export("bob", in: readerScope))
      try expectEqual(
        try await store.export("bob", in: readerScope)?.merged, ["alice"])
    },

    ConformanceCase("Every write by the name of a merged account goes to the other account") {
      store, _ in
      try await fillAlice(store)
      try await store.done(.merge("alice", into: "bob"))
      let submitted = try await store.submit(
        TransactionSample("2", "2").with { $0.token = token(2) }, by: "alice")
      try expectEqual(submitted.links, [.linked])
      try expectEqual(submitted.customers.map(\.subject), [account("bob")])
      // Not a claim: both names are the same account.
      try expectEqual(
        try await store.submit(TransactionSample("1", "1"), by: "alice").links, [.unchanged])
      try expectEqual(
        try await store.customer(.appAccountToken(token(2))).subject, account("bob"), "token")
      let given = try await store.addGrant(sampleGrant(2))
      try expectEqual(given.grant.accountID, "bob")
      try expectEqual(given.customer.subject, account("bob"))

      try await store.submit(TransactionSample("3", "3"))
      try await store.done(.link(.chain("3"), to: "alice"))
      try expectEqual(try await store.account(of: "3"), "bob")
      let again = try await store.done(.link(.chain("3"), to: "bob"))
      try expectEqual(again.isChanged, false)
      try await store.done(.transfer(.chain("3"), from: "alice", to: "carol"))
      try expectEqual(try await store.account(of: "3"), "carol")
      try await store.done(.transfer(.chain("3"), from: "carol", to: "alice"))
      try expectEqual(try await store.account(of: "3"), "bob")
      try expectEqual(try await store.accountIDs(), ["bob", "carol"])
    },

    ConformanceCase("A merged name moves along when its account is merged too") {
      store, _ in
      for (number, name) in ["alice", "bob", "carol"].enumerated() {
        try await store.submit(TransactionSample("\(number)", "\(number)"), by: AccountID(name))
      }
      try await store.done(.merge("alice", into: "bob"))
      try await store.done(.merge("bob", into: "carol"))
      for name: AccountID in ["alice", "bob", "carol"] {
        try expectEqual(try await store.customer(.account(name)).subject, account("carol"))
      }
      // By a merged name: the account itself.
      try await store.done(.merge("alice", into: "dave"))
      let export = try unwrap(try await store.export("dave", in: readerScope), "export")
      try expectEqual(export.merged, ["alice", "bob", "carol"])
      try expectEqual(export.links.map(\.target), [.chain("0"), .chain("1"), .chain("2")])
      try expectEqual(try await store.accountIDs(), ["dave"])
    },

    ConformanceCase("A merge into an unknown account creates it") { store, _ in
      try await fillAlice(store)
      try await store.done(.merge("alice", into: "bob"))
      try expectEqual(try await store.customer(.account("alice")).record.accountID, "bob")
      try expectEqual(try await store.accountIDs(), ["bob"])
    },

    ConformanceCase("A repeated merge changes nothing") { store, _ in
      try await fillAlice(store)
      let first = try await store.done(.merge("alice", into: "bob"))
      try expect(first.isChanged, "the first changed nothing")
      let feed = try await store.feed()
      let second = try await store.done(.merge("alice", into: "bob"))
      try expect(!second.isChanged, "the second changed something")
      try expectEqual(second.targets, [])
      try expectEqual(second.customers.map(\.subject), [account("bob")])
      try expectEqual(try await store.feed(), feed)
    },

    ConformanceCase("A merge of an unknown account, or of an account with itself, is refused") {
      store, _ in
      try await fillAlice(store)
      try await store.done(.merge("alice", into: "bob"))
      let feed = try await store.feed()
      let refused: [(LinkRequest.Change, LinkRefusal)] = [
        (.merge("nobody", into: "bob"), .accountUnknown),
        (.merge("bob", into: "bob"), .sameAccount),
        (.merge("bob", into: "alice"), .sameAccount),
        (.merge("alice", into: "alice"), .sameAccount),
      ]
      for (change, refusal) in refused {
        try expectEqual(try await store.ask(change), .refused(refusal), "\(change)")
      }
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.accountIDs(), ["bob"])
    },
  ]

  /// A chain with a token and an app transaction, the app transaction's fact, and a grant.
  static func fillAlice(_ store: any EntitlementStore) async throws {
    try await store.submit(
      [
        TransactionSample("1", "1").with {
          $0.token = token(1); $0.appTransaction = "900"
        }.signed(), AppTransactionSample("900").signed(),
      ], by: "alice")
    _ = try await store.addGrant(sampleGrant(1))
  }
}
