import EntitlementDomain
import EntitlementStore

// Links changed by name, with an audit record (R46).
extension StoreConformanceSuite {
  static let linkRequestCases = [
    ConformanceCase("A link is made by name, with its author and reason (R46)") { store, _ in
      let before = try await store.submit(TransactionSample("1", "1")).customers
      let receipt = try await store.done(.link(.chain("1"), to: "alice"), at: 8_000)
      try expectEqual(receipt.isChanged, true)
      try expectEqual(receipt.targets, [.chain("1")])
      try expectEqual(Set(receipt.changed), [account("alice"), unlinked("1")], "changed")
      try expectEqual(
        try await store.history(of: .chain("1")),
        [
          LinkEvent(
            from: nil, to: "alice", reason: .assigned, author: LinkAuthor(sampleCaller("otto")),
            onBehalfOf: "ada",
            note: "a ticket", at: 8_000)
        ])
      try expectEqual(
        try await store.links(of: "alice", in: readerScope),
        [
          LinkedTarget(
            target: .chain("1"), isUnsigned: false, since: 8_000, reason: .assigned)
        ])
      try expectEqual(try await store.customer(.account("alice")).factKeys, ["transaction/1"])

      let told = try await store.feed().suffix(2)
      try expectEqual(told.map(\.subject), [unlinked("1"), account("alice")], "order in the feed")
      try expectEqual(told.map(\.kinds), [.unlinked, .linked])
      try expectEqual(told.map(\.committedAt), [8_000, 8_000])
      try expectEqual(
        Set(receipt.customers),
        Set(
          told.compactMap { change in
            change.subject.map { CustomerRevision(subject: $0, revision: change.sequence) }
          }), "customers")
      try expect(
        receipt.customers.allSatisfy { $0.revision > before[0].revision }, "a revision stayed")
      try expectEqual(
        try await store.revision(of: .account("alice")), told.last?.sequence, "revision")
      try expectEqual(receipt.latest, told.last?.sequence, "latest")
    },

    ConformanceCase("An existing link is not made again (R45, R46)") { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      let revision = try await store.revision(of: .account("alice"))
      let feed = try await store.feed()
      let again = try await store.done(.link(.chain("1"), to: "alice"))
      try expectEqual(
        again,
        LinkReceipt(
          targets: [],
          customers: [CustomerRevision(subject: account("alice"), revision: revision)],
          changed: [], latest: revision, isChanged: false))
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.history(of: .chain("1")).map(\.reason), [.named])
    },

    ConformanceCase("A link to another account is refused: a transfer is needed (R46)") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      let feed = try await store.feed()
      try expectEqual(
        try await store.ask(.link(.chain("1"), to: "bob")), .refused(.linkedElsewhere))
      try expectEqual(try await store.account(of: "1"), "alice")
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.accountIDs(), ["alice"])
    },

    ConformanceCase("An unknown target is neither linked, unlinked nor transferred") {
      store, _ in
      let other = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      try await store.submit(TransactionSample("1", "1").with { $0.scope = other })
      for target: LinkTarget in [.chain("1"), .appTransaction("900")] {
        for change: LinkRequest.Change in [
          .link(target, to: "alice"), .unlink(target), .transfer(target, from: nil, to: "alice"),
        ] {
          try expectEqual(try await store.ask(change), .refused(.targetUnknown), "\(change)")
        }
      }
      try expectEqual(try await store.accountIDs(), [])
      try expectEqual(try await store.feed().count, 1)
    },

    ConformanceCase("An app transaction can be linked by name as soon as its fact is stored") {
      store, _ in
      try await store.submit([AppTransactionSample("900").signed()])
      try expectEqual(
        try await store.ask(.unlink(.appTransaction("900"))),
        .done(
          LinkReceipt(targets: [], customers: [], changed: [], latest: 0, isChanged: false)))
      let receipt = try await store.done(.link(.appTransaction("900"), to: "alice"))
      try expectEqual(receipt.targets, [.appTransaction("900")])
      try expectEqual(receipt.changed, [account("alice")])
      try expectEqual(
        try await store.customer(.account("alice")).factKeys, ["appTransaction/900"])
      try expectEqual(
        try await store.history(of: .appTransaction("900")).map(\.reason), [.assigned])
    },

    ConformanceCase("A link by name propagates like a claim, but binds no token") {
      store, _ in
      try await store.submit(TransactionSample("2", "2").with { $0.previousChain = "1" })
      try await store.submit(TransactionSample("3", "3").with { $0.appTransaction = "900" })
      try await store.submit(TransactionSample("4", "4").with { $0.token = token(1) })
      try await store.submit(
        TransactionSample("1", "1").with {
          $0.appTransaction = "900"; $0.token = token(1)
        })
      let receipt = try await store.done(.link(.chain("1"), to: "alice"))
      let targets: [LinkTarget] = [
        .chain("1"), .chain("2"), .chain("3"), .appTransaction("900"),
      ]
      try expectEqual(receipt.targets, targets)
      try expectEqual(try await store.links(of: "alice"), targets)
      try expectEqual(try await store.account(of: "4"), nil, "the token's chain")
      // Propagated links have the same request.
      for target in targets {
        let event = try unwrap(try await store.history(of: target).last, "event of \(target)")
        try expectEqual(event.to, "alice")
        try expectEqual(event.author?.name, "otto")
        try expectEqual(event.onBehalfOf, "ada")
      }
    },
  ]

  static let unlinkCases = [
    ConformanceCase("An unlinked chain has no account, and the change is reported (R46)") {
      store, _ in
      try await store.submit(
        [TransactionSample("1", "1").signed(), TransactionSample("2", "2").signed()], by: "alice")
      let receipt = try await store.done(.unlink(.chain("1")), at: 9_000)
      try expectEqual(receipt.targets, [.chain("1")])
      try expectEqual(Set(receipt.changed), [account("alice"), unlinked("1")], "changed")
      try expectEqual(try await store.customer(.account("alice")).factKeys, ["transaction/2"])
      let chain = try await store.customer(.originalTransaction("1"))
      try expectEqual(chain.subject, unlinked("1"))
      try expectEqual(chain.factKeys, ["transaction/1"])
      for customer in receipt.customers {
        let selector: CustomerSelector =
          customer.subject == account("alice") ? .account("alice") : .originalTransaction("1")
        try expectEqual(try await store.revision(of: selector), customer.revision)
      }
      try expectEqual(Set(receipt.customers.map(\.subject)), Set(receipt.changed), "customers")
      try expectEqual(
        try await store.history(of: .chain("1")).last,
        LinkEvent(
          from: "alice", to: nil, reason: .unassigned, author: LinkAuthor(sampleCaller("otto")),
          onBehalfOf: "ada",
          note: "a ticket",
          at: 9_000))
      let feed = try await store.feed()
      let again = try await store.done(.unlink(.chain("1")))
      try expectEqual(again.isChanged, false)
      try expectEqual(again.customers.map(\.subject), [unlinked("1")])
      try expectEqual(try await store.feed(), feed)
    },

    ConformanceCase("Hints do not undo an unlinking; a named account does (R46)") { store, _ in
      let sample = TransactionSample("1", "1").with {
        $0.token = token(1); $0.appTransaction = "900"; $0.previousChain = "9"
      }
      try await store.submit([sample.signed(), TransactionSample("9", "9").signed()], by: "alice")
      try await store.done(.unlink(.chain("1")))
      let feed = try await store.feed()
      // Known facts, a new fact, and every fact with a hint again.
      try await store.submit(sample)
      try expectEqual(try await store.feed(), feed)
      try await store.submit(
        sample.with {
          $0.id = "2"; $0.signedAt = 2_000
        })
      try await store.submit(
        [
          TransactionSample("3", "3").with {
            $0.token = token(1); $0.appTransaction = "900"
          }.signed(),
          TransactionSample("9", "9").signed(),
        ], by: "alice")
      try expectEqual(try await store.account(of: "1"), nil, "account after hints")
      try expectEqual(
        try await store.customer(.originalTransaction("1")).factKeys,
        ["transaction/1", "transaction/2"])

      let receipt = try await store.submit(sample, by: "bob")
      try expectEqual(receipt.links, [.linked])
      try expectEqual(try await store.account(of: "1"), "bob")
      try expectEqual(
        try await store.history(of: .chain("1")).map(\.reason), [.named, .unassigned, .named])
    },

    ConformanceCase("A named account after an unlinking links and propagates again (R42, R46)") {
      store, _ in
      let sample = TransactionSample("1", "1")
      try await store.submit(sample, by: "alice")
      try await store.done(.unlink(.chain("1")))
      try await store.submit(TransactionSample("2", "2").with { $0.previousChain = "1" })
      try expectEqual(try await store.account(of: "2"), nil)
      try await store.submit(sample, by: "bob")
      try expectEqual(try await store.account(of: "2"), "bob")
      // A chain that was linked again is like any other: after the next unlinking its own hints
      // count.
      try expectEqual(try await store.links(of: "alice"), [])
    },

    ConformanceCase("Unlinking a chain leaves its app transaction linked") { store, _ in
      try await store.submit(
        [
          TransactionSample("1", "1").with { $0.appTransaction = "900" }.signed(),
          AppTransactionSample("900").signed(),
        ], by: "alice")
      try await store.done(.unlink(.chain("1")))
      try expectEqual(try await store.links(of: "alice"), [.appTransaction("900")])
    },

    ConformanceCase("An unlinked app transaction does not follow its chains back") {
      store, _ in
      let sample = TransactionSample("1", "1").with { $0.appTransaction = "900" }
      try await store.submit([sample.signed(), AppTransactionSample("900").signed()], by: "alice")
      let receipt = try await store.done(.unlink(.appTransaction("900")))
      try expectEqual(receipt.changed, [account("alice")])
      try await store.submit(
        sample.with {
          $0.id = "2"; $0.signedAt = 2_000
        })
      try await store.submit([AppTransactionSample("900").with { $0.signedAt = 2_000 }.signed()])
      try expectEqual(try await store.links(of: "alice"), [.chain("1")])
      // Its chain decides the customer until it is linked again.
      let found = try await store.customer(.appTransaction("900"))
      try expectEqual(found.record.accountID, "alice")
      try expectEqual(found.subject, nil, "subject, since it may be linked to another account")
      try await store.submit([AppTransactionSample("900").signed()], by: "bob")
      try expectEqual(try await store.customer(.appTransaction("900")).subject, account("bob"))
    },
  ]

  static let transferCases = [
    ConformanceCase("A transfer moves its targets from one account to another (R46)") {
      store, _ in
      try await store.submit(
        [TransactionSample("1", "1").signed(), TransactionSample("2", "2").signed()], by: "alice")
      let receipt = try await store.done(
        .transfer(.chain("1"), from: "alice", to: "bob"), at: 9_000)
      try expectEqual(receipt.targets, [.chain("1")])
      try expectEqual(Set(receipt.changed), [account("alice"), account("bob")], "changed")
      try expectEqual(
        Set(receipt.customers),
        [
          CustomerRevision(
            subject: account("alice"),
            revision: try await store.revision(of: .account("alice"))),
          CustomerRevision(
            subject: account("bob"), revision: try await store.revision(of: .account("bob"))),
        ], "customers")
      try expectEqual(
        try await store.history(of: .chain("1")).last,
        LinkEvent(
          from: "alice", to: "bob", reason: .transferred, author: LinkAuthor(sampleCaller("otto")),
          onBehalfOf: "ada",
          note: "a ticket",
          at: 9_000))
      try expectEqual(try await store.links(of: "alice"), [.chain("2")])
      try expectEqual(try await store.links(of: "bob"), [.chain("1")])
      let kinds = try await store.feed().suffix(2).map { ($0.subject, $0.kinds) }
      try expectEqual(
        Dictionary(uniqueKeysWithValues: kinds),
        [account("alice"): .unlinked, account("bob"): .linked], "kinds")

      let feed = try await store.feed()
      let again = try await store.done(.transfer(.chain("1"), from: "alice", to: "bob"))
      try expectEqual(again.isChanged, false)
      try expectEqual(again.customers.map(\.subject), [account("bob")])
      try expectEqual(try await store.feed(), feed)
    },

    ConformanceCase("A transfer with an expected owner is refused for another one (R46)") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      try await store.submit(TransactionSample("2", "2"), by: "carol")
      let feed = try await store.feed()
      let refused: [(LinkRequest.Change, LinkRefusal)] = [
        (.transfer(.chain("1"), from: "carol", to: "bob"), .linkedElsewhere),
        (.transfer(.chain("1"), from: "nobody", to: "bob"), .accountUnknown),
        (.transfer(.chain("1"), from: "alice", to: "alice"), .sameAccount),
      ]
      for (change, refusal) in refused {
        try expectEqual(try await store.ask(change), .refused(refusal), "\(change)")
      }
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.accountIDs(), ["alice", "carol"])
      try await store.done(.transfer(.chain("1"), from: nil, to: "bob"))
      try expectEqual(try await store.account(of: "1"), "bob")
    },

    ConformanceCase("A transfer without an expected owner also moves unlinked targets") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"))
      let receipt = try await store.done(.transfer(.chain("1"), from: nil, to: "bob"))
      try expectEqual(Set(receipt.changed), [account("bob"), unlinked("1")], "changed")
      try expectEqual(
        try await store.history(of: .chain("1")).map(\.reason), [.transferred])
    },
  ]
}
