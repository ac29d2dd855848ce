import EntitlementDomain
import EntitlementStore
import TestSupport

// What a store tells of links that moved, however it stores their events (R41, R46).
extension StoreConformanceSuite {
  static let linkHistoryCases = [
    ConformanceCase("An account that lost its purchases keeps their history (R46)") { store, _ in
      for (number, name): (Int, AccountID) in [
        (1, "alice"), (2, "alice"), (3, "alice"), (4, "bob"), (5, "dave"),
      ] {
        try await store.submit(
          TransactionSample("\(number)", "\(number)"), by: name,
          at: Milliseconds(5_000 + Int64(number)))
      }
      try await store.done(.transfer(.chain("1"), from: "alice", to: "bob"), at: 6_001)
      try await store.done(.unlink(.chain("2")), at: 6_002)
      try await store.done(.merge("alice", into: "carol"), at: 6_003)
      try await store.done(.transfer(.chain("1"), from: "bob", to: "carol"), at: 6_004)
      try await store.done(.delete("bob"), at: 6_005)
      try await store.done(.link(.chain("2"), to: "carol"), at: 6_006)
      // Lost, and there again.
      try await store.done(.unlink(.chain("3")), at: 6_007)
      try await store.submit(TransactionSample("5", "5"), by: "carol", at: 6_008)
      try await store.submit(TransactionSample("5", "5"), by: "dave", at: 6_009)

      let carol = try await store.linkHistory(of: AccountID("carol"), in: readerScope)
      try expectEqual(
        carol.map(\.event.at),
        [5_001, 5_002, 5_003, 6_001, 6_002, 6_003, 6_004, 6_006, 6_007, 6_008, 6_009])
      try expectEqual(
        carol.map(\.target),
        ["1", "2", "3", "1", "2", "3", "1", "2", "3", "5", "5"].map { .chain($0) })
      try expectEqual(
        carol.map(\.event.to),
        ["alice", "alice", "alice", nil, nil, "carol", "carol", "carol", nil, "carol", "dave"])
      try expectEqual(carol[3].event.isToErased, true)
      try expectEqual(carol[6].event.isFromErased, true)
      try expectEqual(
        try await store.linkHistory(of: AccountID("bob"), in: readerScope), [])
      let dave = try await store.linkHistory(of: AccountID("dave"), in: readerScope)
      try expectEqual(dave.map(\.event.at), [5_005, 6_008, 6_009])
      try expectEqual(
        try await store.links(of: "dave", in: readerScope).map(\.since), [6_009])
      for name: AccountID in ["alice", "carol"] {
        let export = try unwrap(
          try await store.export(name, in: readerScope), "export of \(name)")
        try expectEqual(export.linkEvents, carol, "export of \(name)")
      }
      // Deleted with all events of its own names, in chains that it has and that it has not.
      try await store.done(.delete("carol"), at: 7_000)
      for chain in 1...5 {
        for event in try await store.history(of: .chain(OriginalTransactionID("\(chain)"))) {
          for name in [event.from, event.to].compactMap(\.self) {
            try expectEqual(name, "dave", "named in the history of \(chain)")
          }
        }
      }
      try expectEqual(
        try await store.linkHistory(of: AccountID("dave"), in: readerScope).map(\.event.at),
        [5_005, 6_008, 6_009])
    },

    ConformanceCase("A purchase that first had no account is linked since its link (R41)") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), at: 5_000)
      try await store.submit(TransactionSample("1", "1"), by: "alice", at: 6_000)
      // Facts that come later change neither the moment nor the reason.
      try await store.submit(TransactionSample("11", "1"), at: 7_000)
      let expected = LinkEvent(from: nil, to: "alice", reason: .named, at: 6_000)
      try expectEqual(try await store.history(of: .chain("1")), [expected])
      try expectEqual(
        try await store.links(of: "alice", in: readerScope),
        [LinkedTarget(target: .chain("1"), isUnsigned: false, since: 6_000, reason: .named)])
      try expectEqual(
        try await store.linkHistory(of: AccountID("alice"), in: readerScope),
        [TargetLinkEvent(target: .chain("1"), event: expected)])
      try await store.done(.unlink(.chain("1")), at: 8_000)
      try await store.done(.link(.chain("1"), to: "alice"), at: 9_000)
      try expectEqual(
        try await store.history(of: .chain("1")).map(\.at), [6_000, 8_000, 9_000])
      try expectEqual(
        try await store.history(of: .chain("1")).map(\.author?.name), [nil, "otto", "otto"])
    },

    ConformanceCase("Histories are complete after any moves of purchases (R41, R46)") {
      store, _ in
      var sample = LinkHistorySample(store, SeededRandom(for: "histories of moves"))
      for _ in 0..<8 {
        try await sample.write(12)
        try await sample.check()
      }
    },

    ConformanceCase("Histories are complete after moves of purchases at the same time (R45, R46)") {
      store, _ in
      var sample = LinkHistorySample(store, SeededRandom(for: "histories of moves at once"))
      for _ in 0..<8 {
        try await sample.write(24, atOnce: 12)
        try await sample.check()
      }
    },

    ConformanceCase("A transaction is found wherever it is, also with the id of a chain (R7)") {
      store, _ in
      func expectCustomer(
        of id: TransactionID, _ name: AccountID?, _ chain: OriginalTransactionID?,
        line: UInt = #line
      ) async throws {
        let customer = try await store.customer(.transaction(id))
        try expectEqual(customer.record.accountID, name, "account of \(id)", line: line)
        let key = FactKey(kind: .transaction, identifier: id.rawValue)
        try expectEqual(
          try await store.signedFact(key, in: readerScope)?.fact.target, chain.map { .chain($0) },
          "chain of \(id)", line: line)
        try expectEqual(
          try await store.resolve(.transaction(id), in: readerScope).subject, customer.subject,
          line: line)
      }
      let first = TransactionSample("10", "10")
      try await store.submit([first.signed(), TransactionSample("11", "10").signed()], by: "alice")
      // A chain of which only a later transaction is known; and one in which a transaction with the
      // id of another chain is.
      try await store.submit(
        [TransactionSample("31", "30").signed(), TransactionSample("20", "30").signed()],
        by: "carol")
      try await store.submit(TransactionSample("21", "20"), by: "bob")
      try await expectCustomer(of: "10", "alice", "10")
      try await expectCustomer(of: "11", "alice", "10")
      try await expectCustomer(of: "30", "carol", nil)
      try await expectCustomer(of: "20", "carol", "30")
      try await expectCustomer(of: "21", "bob", "20")
      try await expectCustomer(of: "40", nil, nil)

      // The first one leaves its chain, and returns, and leaves it again.
      for (number, chain, name): (Int64, OriginalTransactionID, AccountID) in [
        (2, "20", "bob"), (3, "10", "alice"), (4, "30", "carol"), (5, "20", "bob"),
        (6, "10", "alice"),
      ] {
        let version = first.with {
          $0.chain = chain; $0.signedAt = 1_000 * number
        }
        try expectEqual(try await store.submit(version).dispositions, [.replaced])
        try await expectCustomer(of: "10", name, chain)
        try expectEqual(try await store.submit(version).dispositions, [.duplicate])
        try expectEqual(
          try await store.submit(first).dispositions, [.superseded], "in \(chain)")
        try await expectCustomer(of: "10", name, chain)
        for owner: AccountID in ["alice", "bob", "carol"] {
          let export = try unwrap(
            try await store.export(owner, in: readerScope), "export of \(owner)")
          try expectEqual(
            export.facts.contains { $0.fact.key.identifier == "10" }, owner == name,
            "export of \(owner) in \(chain)")
        }
        try expectEqual(
          try await store.bundleIDs(ofChain: "10", environment: .production),
          [readerScope.bundleID])
      }
      try await expectCustomer(of: "11", "alice", "10")
      try await expectCustomer(of: "20", "carol", "30")
      // The other way: into its own chain for the first time.
      try await store.submit(
        TransactionSample("20", "20").with { $0.signedAt = 2_000 })
      try await expectCustomer(of: "20", "bob", "20")
    },
  ]
}
