import EntitlementDomain
import EntitlementStore

// Deletion of an account: its links and personal data are removed, its chains stay (R46).
extension StoreConformanceSuite {
  static let accountDeletionCases = [
    ConformanceCase("A deletion ends every link of the account and reports each one (R46)") {
      store, _ in
      try await fillAccount(in: store)
      let receipt = try await store.done(.delete("alice"), at: 9_000)
      try expectEqual(receipt.isChanged, true)
      try expectEqual(receipt.targets, [.chain("1"), .chain("2"), .appTransaction("900")])
      let changed = [
        account("alice"), account("anonymous:1"), unlinked("1"), unlinked("2"),
      ]
      try expectEqual(Set(receipt.changed), Set(changed), "changed")
      let told = try await store.feed().suffix(changed.count)
      try expectEqual(Set(told.compactMap(\.subject)), Set(changed), "told of")
      for change in told {
        if case .account = change.subject {
          try expect(change.kinds.contains(.deleted), "kinds: \(change.kinds)")
        }
      }
      for chain: OriginalTransactionID in ["1", "2"] {
        let customer = try await store.customer(.originalTransaction(chain))
        try expectEqual(customer.subject, unlinked(chain))
        try expect(!customer.record.facts.isEmpty, "the facts of \(chain) are gone")
        try expectEqual(
          customer.record.revision, told.first { $0.subject == unlinked(chain) }?.sequence,
          "revision of \(chain)")
      }
    },

    ConformanceCase("Only the feed names a deleted account (R46)") { store, _ in
      try await fillAccount(in: store)
      let token = token(1)
      let before = try await store.revision(of: .account("alice"))
      try await store.done(.delete("alice"), at: 9_000)
      for name: AccountID in ["alice", "anonymous:1"] {
        let customer = try await store.customer(.account(name))
        try expectEqual(customer.record.facts, [], "facts of \(name)")
        try expectEqual(customer.record.grants, [], "grants of \(name)")
        try expectEqual(customer.record.accountID, name)
        try expectEqual(customer.subject, account(name))
        try expect(customer.record.revision > before, "the revision of \(name) went back")
        try expectEqual(
          try await store.resolve(.account(name), in: readerScope).subject, nil, "\(name)")
        try expectEqual(try await store.links(of: name), [])
        try expectEqual(try await store.grants(of: name, in: readerScope), [])
        try expectEqual(
          try await store.linkHistory(of: name, in: readerScope), [], "history of \(name)")
        try expectEqual(try await store.export(name, in: readerScope), nil)
      }
      try expectEqual(try await store.accountIDs(), [])
      try expectEqual(
        try await store.withdrawGrant(
          grantID(1), in: readerScope, GrantWithdrawal(at: 1, author: "otto", reason: "none")), nil)
      let byToken = try await store.customer(.appAccountToken(token))
      try expectEqual(byToken.record.accountID, nil, "account of the token")
      try expectEqual(byToken.factKeys, ["renewalInfo/1", "transaction/1"])
      try expectEqual(
        try await store.history(of: .chain("1")),
        [
          LinkEvent(from: nil, to: nil, isToErased: true, reason: .named, at: 5_000),
          LinkEvent(
            from: nil, to: nil, isFromErased: true, isToErased: true, reason: .merged, at: 6_000),
          LinkEvent(
            from: nil, to: nil, isFromErased: true, reason: .deleted,
            author: LinkAuthor(sampleCaller("otto")),
            onBehalfOf: "ada",
            note: "a ticket", at: 9_000),
        ])
    },

    ConformanceCase("The history of a chain keeps the actions of other accounts") { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "carol")
      try await store.done(.transfer(.chain("1"), from: nil, to: "alice"), at: 6_000)
      try await store.done(.transfer(.chain("1"), from: nil, to: "bob"), at: 7_000)
      try await store.done(.delete("alice"))
      let history = try await store.history(of: .chain("1"))
      try expectEqual(history.map(\.from), [nil, "carol", nil])
      try expectEqual(history.map(\.to), ["carol", nil, "bob"])
      try expectEqual(history.map(\.isFromErased), [false, false, true])
      try expectEqual(history.map(\.isToErased), [false, true, false])
      try expectEqual(try await store.account(of: "1"), "bob")
    },

    ConformanceCase("The chains of a deleted account can be claimed again (R46)") { store, _ in
      let keep = PolicySample.catalog(.keep)
      try await fillAccount(in: store)
      try await store.done(.delete("alice"), at: 9_000)
      let receipt = try await store.submit(
        [TransactionSample("1", "1").with { $0.token = token(1) }.signed()], by: "bob",
        under: keep)
      try expectEqual(receipt.links, [.linked])
      try expectEqual(
        try await store.customer(.appAccountToken(token(1))).subject, account("bob"))
    },

    ConformanceCase(
      "A deleted account that comes back starts empty, with a higher revision (R46)"
    ) { store, _ in
      try await fillAccount(in: store)
      try await store.done(.delete("alice"), at: 9_000)
      let before = try await store.revision(of: .account("alice"))
      let receipt = try await store.submit([TransactionSample("2", "2").signed()], by: "alice")
      try expectEqual(receipt.links, [.linked])
      let alice = try await store.customer(.account("alice"))
      try expectEqual(alice.factKeys, ["transaction/2"])
      try expectEqual(alice.record.grants, [])
      try expect(alice.record.revision > before, "the revision went back")
      try expectEqual(try await store.accountIDs(), ["alice"])
      // The former merged name is now an unrelated account.
      try expectEqual(try await store.customer(.account("anonymous:1")).factKeys, [])
      let events = try await store.linkHistory(of: "alice", in: readerScope)
      try expectEqual(events.map(\.target), [.chain("2")])
      try expectEqual(events.map(\.event.reason), [.named])
    },

    ConformanceCase("An account is deleted under any of its names, once (R46)") { store, _ in
      try await fillAccount(in: store)
      try expectEqual(try await store.ask(.delete("nobody")), .refused(.accountUnknown))
      try await store.done(.delete("anonymous:1"))
      try expectEqual(try await store.links(of: "alice"), [])
      let feed = try await store.feed()
      for name: AccountID in ["alice", "anonymous:1"] {
        let revision = try await store.revision(of: .account(name))
        try expectEqual(
          try await store.done(.delete(name), at: 9_999),
          LinkReceipt(
            targets: [], customers: [CustomerRevision(subject: account(name), revision: revision)],
            changed: [], latest: revision, isChanged: false))
        try expectEqual(
          try await store.ask(.merge(name, into: "bob")), .refused(.accountUnknown))
      }
      try expectEqual(try await store.feed(), feed)
      // An account that came back since is deleted again.
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      try expect(try await store.done(.delete("alice")).isChanged, "it stays")
      try expectEqual(try await store.account(of: "1"), nil)
    },

    ConformanceCase("The last trace of a deletion is trimmed with its feed entry (R46)") {
      store, _ in
      try await fillAccount(in: store)
      try await store.done(.delete("alice"), at: 9_000)
      let last = try unwrap(try await store.feed().last, "change").sequence
      // An active account keeps its row.
      try await store.submit(TransactionSample("3", "3"), by: "bob", at: 9_500)
      let bob = try await store.customer(.account("bob")).record
      _ = try await store.feed()
      _ = try await store.trimChanges(committedBefore: 10_000, limit: 1_000)
      try expectEqual(try await store.feed(), [])
      for name: AccountID in ["alice", "anonymous:1"] {
        try expectEqual(
          try await store.customer(.account(name)),
          StoredCustomer(
            record: CustomerRecord(scope: readerScope, accountID: name), subject: account(name)))
      }
      try expectEqual(try await store.customer(.account("bob")).record, bob)
      try expectEqual(try await store.ask(.delete("alice")), .refused(.accountUnknown))
      try await store.submit(TransactionSample("4", "4"), by: "alice", at: 11_000)
      let again = try await store.revision(of: .account("alice"))
      try expect(again > last, "a feed number was used twice")
      try expectEqual(try await store.accountIDs(), ["alice", "bob"])
    },

    ConformanceCase(
      "An account that came back stays when the feed entry of its deletion is trimmed (R46)"
    ) { store, _ in
      try await fillAccount(in: store)
      try await store.done(.delete("alice"), at: 9_000)
      try await store.submit(TransactionSample("1", "1"), by: "alice", at: 9_500)
      let alice = try await store.customer(.account("alice"))
      _ = try await store.feed()
      _ = try await store.trimChanges(committedBefore: 10_000, limit: 1_000)
      try expectEqual(try await store.customer(.account("alice")), alice)
    },
  ]

  /// Alice, with two chains, a token, an app transaction, a grant and a merged name.
  private static func fillAccount(in store: any EntitlementStore) async throws {
    try await store.submit(
      [
        TransactionSample("1", "1").with { $0.token = token(1) }.signed(),
        RenewalSample("1").signed(), AppTransactionSample("900").signed(),
      ], by: "anonymous:1", at: 5_000)
    try await store.submit(
      [RenewalSample("1").signed(), TransactionSample("2", "2").signed()], by: "alice",
      anonymous: "anonymous:1", at: 6_000)
    _ = try await store.addGrant(sampleGrant(1))
  }
}
