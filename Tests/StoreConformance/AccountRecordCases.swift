import EntitlementDomain
import EntitlementStore

// Reads of accounts, links and chains, apart from the state of a customer.
extension StoreConformanceSuite {
  static let accountRecordCases = [
    ConformanceCase("The customer of a selector is returned without facts") { store, _ in
      try await store.submit(
        TransactionSample("1", "10").with {
          $0.token = token(1); $0.appTransaction = "900"
        }, by: "alice")
      try await store.submit([
        TransactionSample("2", "20").with { $0.token = token(2) }.signed(),
        TransactionSample("3", "30").with { $0.appTransaction = "901" }.signed(),
        TransactionSample("4", "40").with { $0.appTransaction = "901" }.signed(),
      ])
      let found: [(CustomerSelector, CustomerSubject?)] = [
        (.account("alice"), account("alice")), (.originalTransaction("10"), account("alice")),
        (.transaction("1"), account("alice")), (.appTransaction("900"), account("alice")),
        (.appAccountToken(token(1)), account("alice")), (.transaction("2"), unlinked("20")),
        (.originalTransaction("20"), unlinked("20")), (.appAccountToken(token(2)), unlinked("20")),
        // Two chains.
        (.appTransaction("901"), nil),
      ]
      for (selector, subject) in found {
        try expectEqual(
          try await store.resolve(selector, in: readerScope),
          ResolvedCustomer(subject: subject, revision: try await store.revision(of: selector)),
          "\(selector)")
      }
      for selector: CustomerSelector in [
        .account("bob"), .originalTransaction("99"), .transaction("99"), .appTransaction("99"),
        .appAccountToken(token(9)),
      ] {
        try expectEqual(
          try await store.resolve(selector, in: readerScope),
          ResolvedCustomer(subject: nil, revision: 0), "\(selector)")
      }
    },

    ConformanceCase(
      "If chains of several accounts carry a token, the chain with the least id decides"
    ) { store, _ in
      for (chain, name) in [("20", "bob"), ("10", "alice"), ("30", "carol")] {
        try await store.submit(TransactionSample(chain, chain), by: AccountID(name))
        // The token comes with a fact that names no account: the token stays without one.
        try await store.submit(
          TransactionSample("\(chain)0", chain).with {
            $0.token = token(1); $0.signedAt = 2_000
          })
      }
      try expectEqual(
        try await store.customer(.appAccountToken(token(1))).record.accountID, "alice")
    },

    ConformanceCase("The links of an account are listed: chains, then app transactions, by id") {
      store, _ in
      try await store.submit(
        [
          TransactionSample("1", "20").with { $0.appTransaction = "900" }.signed(),
          TransactionSample("2", "10").signed(), AppTransactionSample("800").signed(),
        ], by: "alice", at: 6_000)
      try await store.submit(
        [TransactionSample("3", "15").archived()], by: "alice", at: 7_000)
      try expectEqual(
        try await store.links(of: "alice", in: readerScope),
        [
          LinkedTarget(target: .chain("10"), isUnsigned: false, since: 6_000, reason: .named),
          LinkedTarget(target: .chain("15"), isUnsigned: true, since: 7_000, reason: .imported),
          LinkedTarget(target: .chain("20"), isUnsigned: false, since: 6_000, reason: .named),
          LinkedTarget(
            target: .appTransaction("800"), isUnsigned: false, since: 6_000, reason: .named),
          LinkedTarget(
            target: .appTransaction("900"), isUnsigned: false, since: 6_000, reason: .named),
        ])
      try expectEqual(try await store.links(of: "bob", in: readerScope), [])
      let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      try expectEqual(try await store.links(of: "alice", in: sandbox), [])
    },

    ConformanceCase("The history of an account lists its gained and lost links (R46)") {
      store, _ in
      try await store.submit(
        TransactionSample("1", "1").with { $0.appTransaction = "900" }, by: "alice", at: 5_000)
      try await store.submit(TransactionSample("2", "2"), by: "bob", at: 5_500)
      try await store.submit(TransactionSample("1", "1"), by: "bob", at: 6_000)
      try await store.done(.unlink(.chain("1")), at: 7_000)
      let alice = try await store.linkHistory(of: "alice", in: readerScope)
      try expectEqual(alice.map(\.target), [.chain("1"), .appTransaction("900"), .chain("1")])
      try expectEqual(
        alice.map(\.event),
        [
          LinkEvent(from: nil, to: "alice", reason: .named, at: 5_000),
          LinkEvent(from: nil, to: "alice", reason: .named, at: 5_000),
          LinkEvent(from: "alice", to: "bob", reason: .claimed, at: 6_000),
        ])
      let bob = try await store.linkHistory(of: AccountID("bob"), in: readerScope)
      try expectEqual(bob.map(\.target), [.chain("2"), .chain("1"), .chain("1")])
      try expectEqual(bob.map(\.event.reason), [.named, .claimed, .unassigned])
      try expectEqual(bob.last?.event.author?.name, "otto")
      try expectEqual(bob.last?.event.onBehalfOf, "ada")
      try expectEqual(
        try await store.linkHistory(of: AccountID("carol"), in: readerScope), [])
    },

    ConformanceCase("The history of an account includes the history of its merged names") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice", at: 5_000)
      try await store.submit(TransactionSample("2", "2"), by: "alice", at: 6_000)
      try await store.done(.transfer(.chain("1"), from: nil, to: "carol"), at: 7_000)
      try await store.done(.merge("alice", into: "bob"), at: 8_000)
      let events = try await store.linkHistory(of: AccountID("bob"), in: readerScope)
      try expectEqual(events.map(\.event.at), [5_000, 6_000, 7_000, 8_000])
      try expectEqual(events.map(\.event.from), [nil, nil, "alice", "alice"])
      try expectEqual(events.map(\.event.to), ["alice", "alice", "carol", "bob"])
    },

    ConformanceCase("Chains without an account are listed page by page, by id") { store, _ in
      for number in [5, 3, 9, 1, 7, 4] {
        try await store.submit(
          TransactionSample("\(number)", "\(number)"), by: number == 9 ? "alice" : nil,
          at: Milliseconds(Int64(number) * 1_000))
      }
      let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      try await store.submit(TransactionSample("2", "2").with { $0.scope = sandbox })
      func listed() async throws -> [UnlinkedChain] {
        try await store.unlinkedChains(in: readerScope, after: nil, limit: 100)
      }
      let all = try await listed()
      try expectEqual(all.map(\.chain.rawValue), ["1", "3", "4", "5", "7"])
      try expectEqual(all.map(\.changedAt), [1_000, 3_000, 4_000, 5_000, 7_000])
      for item in all {
        try expectEqual(
          item.revision, try await store.revision(of: .originalTransaction(item.chain)))
      }
      for size in [1, 2, 5, 6] {
        var paged: [UnlinkedChain] = []
        while true {
          let page = try await store.unlinkedChains(
            in: readerScope, after: paged.last?.chain, limit: size)
          if page.isEmpty { break }
          try expect(page.count <= size, "a page of \(page.count)")
          paged += page
        }
        try expectEqual(paged, all, "pages of \(size)")
      }
      try expectEqual(try await store.unlinkedChains(in: readerScope, after: nil, limit: 0), [])
      try expectEqual(try await store.unlinkedChains(in: readerScope, after: nil, limit: -1), [])

      try await store.done(.link(.chain("3"), to: "alice"), at: 9_000)
      try await store.done(.unlink(.chain("9")), at: 10_000)
      try expectEqual(
        try await listed().map(\.chain.rawValue), ["1", "4", "5", "7", "9"])
      try expectEqual(try await listed().last?.changedAt, 10_000)
    },

    ConformanceCase("Lists are in the order of packed ids, whatever their form") { store, _ in
      let ids = ["1", "10", "100", "9", "12", "x", "1a", "\u{e9}", "e\u{301}"]
      for (offset, id) in ids.enumerated() {
        try await store.submit(TransactionSample("\(500 + offset)", id))
      }
      let expected = ids.sorted {
        PackedIdentifier.bytes(of: $0).lexicographicallyPrecedes(PackedIdentifier.bytes(of: $1))
      }
      for size in [1, 2, 100] {
        var paged: [UnlinkedChain] = []
        repeat {
          paged += try await store.unlinkedChains(
            in: readerScope, after: paged.last?.chain, limit: size)
        } while paged.count < expected.count
        try expectEqual(
          paged.map { Array($0.chain.rawValue.utf8) }, expected.map { Array($0.utf8) },
          "pages of \(size)")
      }
      for id in expected {
        try await store.done(.link(.chain(OriginalTransactionID(id)), to: "alice"), at: 9_000)
      }
      try expectEqual(
        try await store.links(of: "alice", in: readerScope).compactMap { link -> [UInt8]? in
          guard case .chain(let id) = link.target else { return nil }
          return Array(id.rawValue.utf8)
        }, expected.map { Array($0.utf8) })
    },

    ConformanceCase("Ids are compared byte by byte") { store, _ in
      // Equal as Swift's strings.
      let (composed, decomposed) = ("\u{e9}", "e\u{301}")
      for _ in 1...2 {
        try await store.submit(TransactionSample(decomposed, composed), by: "alice")
      }
      let fact = try unwrap(
        try await store.signedFact(
          FactKey(kind: .transaction, identifier: decomposed), in: readerScope), "the fact")
      try expectEqual(Array(fact.fact.key.identifier.utf8), Array(decomposed.utf8))
      try expectEqual(
        try await store.signedFact(
          FactKey(kind: .transaction, identifier: composed), in: readerScope), nil)
    },
  ]
}
