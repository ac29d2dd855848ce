import EntitlementDomain
import EntitlementStore

// An account has a bounded number of chains (R68).
extension StoreConformanceSuite {
  private static func catalog(_ chains: Int, _ policy: LinkPolicy = .transfer) -> Catalog {
    var catalog = PolicySample.catalog(policy)
    catalog.apps[readerScope.bundleID]?.chainsPerAccount = chains
    return catalog
  }

  private static func purchases(_ numbers: ClosedRange<Int>) throws -> [SignedFact] {
    try numbers.map { try TransactionSample("\($0)", "\($0)").signed() }
  }

  private static func chain(_ number: Int) -> LinkTarget {
    .chain(OriginalTransactionID("\(number)"))
  }

  static let fullAccountCases = [
    ConformanceCase("A full account gets no chain; facts are stored, and an event tells it (R68)") {
      store, _ in
      let receipt = try await store.submit(purchases(1...5), by: "alice", under: catalog(3))
      try expectEqual(receipt.links, [.linked, .linked, .linked, .accountFull, .accountFull])
      try expectEqual(try await store.links(of: "alice"), (1...3).map(chain))
      for number in 4...5 {
        let left = try await store.customer(
          .originalTransaction(OriginalTransactionID("\(number)")))
        try expectEqual(left.record.accountID, nil)
        try expectEqual(left.record.facts.count, 1)
      }
      let told = try await store.feed().filter { !$0.events.isEmpty }
      try expectEqual(told.map(\.subject), [account("alice")])
      try expectEqual(
        told.flatMap(\.events),
        [
          FeedEvent(
            kind: .accountFull, notificationUUID: "", originalTransactionID: "4", detail: "2")
        ])
      // A repeat adds no event, and linked chains get their facts.
      let end = try await store.feed().last?.sequence
      let again = try await store.submit(purchases(1...5), by: "alice", under: catalog(3))
      try expectEqual(
        again.links, [.unchanged, .unchanged, .unchanged, .accountFull, .accountFull])
      try expectEqual(try await store.feed().last?.sequence, end)
      try await store.submit(TransactionSample("30", "3"), by: "alice", under: catalog(3))
      let alice = try await store.customer(.account("alice"))
      try expectEqual(alice.record.facts.count, 4)
      // Once there is room, the next submission links it.
      try await store.done(.unlink(chain(1)))
      try expectEqual(
        try await store.submit(purchases(4...4), by: "alice", under: catalog(3)).links, [.linked])
      try expectEqual(
        try await store.submit(purchases(5...5), by: "alice", under: catalog(3)).links,
        [.accountFull])
    },

    ConformanceCase("A full account claims nothing, and hints lead nothing to it (R68)") {
      store, _ in
      try await store.submit(purchases(1...2), by: "bob")
      try await store.submit(
        TransactionSample("3", "3").with {
          $0.token = token(1)
          $0.appTransaction = "900"
        }, by: "alice", under: catalog(1))
      try expectEqual(
        try await store.submit(purchases(1...1), by: "alice", under: catalog(1)).links,
        [.accountFull])
      try expectEqual(try await store.links(of: "bob"), [chain(1), chain(2)])
      for number in 4...6 {
        try await store.submit(
          TransactionSample("\(number)", "\(number)").with {
            if number == 4 { $0.token = token(1) }
            if number == 5 { $0.appTransaction = "900" }
            if number == 6 { $0.previousChain = "3" }
          }, under: catalog(1))
        try expectEqual(
          try await store.account(of: OriginalTransactionID("\(number)")), nil, "\(number)")
      }
      let told = try await store.feed().flatMap(\.events)
      try expectEqual(told.map(\.kind), Array(repeating: .accountFull, count: 3))
      // With a higher limit the same hints link them.
      let receipt = try await store.submit(
        TransactionSample("4", "4").with { $0.token = token(1) }, under: catalog(4))
      try expectEqual(receipt.links, [.linked])
    },

    ConformanceCase("Requests that an account has no room for are refused (R68)") { store, _ in
      try await store.submit(purchases(1...2), by: "alice")
      try await store.submit(purchases(3...4), by: "bob")
      try await store.submit(purchases(5...5))
      let before = try await store.feed().count
      for change: LinkRequest.Change in [
        .link(chain(5), to: "alice"), .transfer(chain(3), from: "bob", to: "alice"),
        .transfer(chain(3), from: nil, to: "alice"), .merge("bob", into: "alice"),
      ] {
        try expectEqual(try await store.ask(change, under: catalog(2)), .refused(.accountFull))
      }
      try expectEqual(try await store.feed().count, before)
      // What it has may be named again.
      try await store.done(.link(chain(1), to: "alice"), under: catalog(2))
      try await store.done(.merge("bob", into: "alice"), under: catalog(4))
      try expectEqual(
        try await store.ask(.link(chain(5), to: "alice"), under: catalog(4)),
        .refused(.accountFull))
      // App transactions are not counted, and deleting makes room.
      try await store.submit(
        TransactionSample("1", "1").with {
          $0.signedAt = 9_000
          $0.appTransaction = "900"
        }, by: "alice", under: catalog(4))
      try expectEqual(try await store.links(of: "alice").count, 5)
      try await store.done(.delete("alice"))
      let receipt = try await store.submit(purchases(1...5), by: "alice", under: catalog(4))
      try expectEqual(receipt.links.count { $0 == .linked }, 4)
    },

    ConformanceCase("An anonymous account that does not fit is not merged (R68, R75)") {
      store, _ in
      try await store.submit(purchases(1...3), by: "anonymous:1", under: catalog(4, .keep))
      try await store.submit(purchases(4...5), by: "alice", under: catalog(4, .keep))
      let receipt = try await store.submit(
        purchases(6...6), by: "alice", anonymous: "anonymous:1", under: catalog(4, .keep))
      try expectEqual(receipt.links, [.linked])
      try expectEqual(try await store.links(of: "anonymous:1"), (1...3).map(chain))
      let told = try await store.feed().flatMap(\.events)
      try expectEqual(
        told, [FeedEvent(kind: .accountFull, notificationUUID: "", detail: "3")])
      try await store.submit(
        purchases(6...6), by: "alice", anonymous: "anonymous:1", under: catalog(6, .keep))
      try expectEqual(try await store.links(of: "alice"), (1...6).map(chain))
    },

    ConformanceCase("Concurrent submissions fill an account up to its limit (R68)") { store, _ in
      let outcomes = try await withThrowingTaskGroup(of: LinkOutcome?.self) { group in
        for number in 1...16 {
          group.addTask {
            try await store.submit(
              purchases(number...number), by: "alice", under: catalog(5)
            ).links.first
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try expectEqual(outcomes.count { $0 == .linked }, 5)
      try expectEqual(outcomes.count { $0 == .accountFull }, 11)
      try expectEqual(try await store.links(of: "alice").count, 5)
    },
  ]
}
