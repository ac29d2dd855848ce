import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let feedCases = [
    ConformanceCase("The feed has each change once, in order, with its kinds") { store, _ in
      try await store.submit([TransactionSample("1", "1").signed()], at: 1)
      try await store.submit([TransactionSample("2", "2").signed()], by: "alice", at: 2)
      try await store.submit([RenewalSample("2").signed()], at: 3)
      try await store.submit([TransactionSample("1", "1").signed()], by: "alice", at: 4)
      let feed = try await store.feed()
      let told = feed.map {
        "\($0.subject?.name ?? "nobody") \($0.kinds.rawValue) \($0.committedAt)"
      }
      let facts = ChangeKinds.facts.rawValue
      let linked = ChangeKinds.linked.rawValue
      let unlinked = ChangeKinds.unlinked.rawValue
      try expectEqual(
        told,
        [
          "chain 1 \(facts) 1", "alice \(facts | linked) 2", "alice \(facts) 3",
          "chain 1 \(unlinked) 4", "alice \(linked) 4",
        ])
      try expect(
        zip(feed, feed.dropFirst()).allSatisfy { $0.sequence < $1.sequence },
        "the feed is out of order")
      for change in feed.suffix(2) {
        if case .account(_, let id) = change.subject {
          let customer = try await store.customer(.account(id))
          try expectEqual(customer.record.revision, change.sequence, "revision")
        }
      }
    },

    ConformanceCase("The feed is read in pages, from any of its numbers") { store, _ in
      for number in 1...20 { try await store.submit(TransactionSample("\(number)", "1")) }
      let all = try await store.feed()
      try expectEqual(all.count, 20)
      for size in [1, 3, 20, 21] {
        var paged: [Change] = []
        while true {
          let page = try await store.changes(after: paged.last?.sequence ?? 0, limit: size)
          if page.isEmpty { break }
          try expect(page.count <= size, "a page of \(page.count)")
          paged += page
        }
        try expectEqual(paged, all, "pages of \(size)")
      }
      try expectEqual(try await store.changes(after: all[9].sequence, limit: 100), all.suffix(10))
      try expectEqual(try await store.changes(after: all[19].sequence, limit: 100), [])
      try expectEqual(try await store.changes(after: .max, limit: 100), [])
      try expectEqual(try await store.changes(after: 0, limit: 0), [])
      try expectEqual(try await store.changes(after: 0, limit: -1), [])
    },

    ConformanceCase("A submission about several customers adds a change for each") { store, _ in
      let receipt = try await store.submit(
        (1...9).map { try TransactionSample("\($0)", "\($0)").signed() })
      let feed = try await store.feed()
      try expectEqual(feed.compactMap(\.subject), receipt.changed)
      try expectEqual(feed.map(\.sequence), receipt.customers.map(\.revision))
    },
  ]
}

extension CustomerSubject {
  fileprivate var name: String {
    switch self {
    case .account(_, let id): id.rawValue
    case .unlinkedChain(_, let chain): "chain \(chain)"
    }
  }
}
