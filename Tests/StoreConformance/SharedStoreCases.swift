import EntitlementDomain
import EntitlementStore

// Several processes with one database, each with its own store: an answer to one holds for all.
extension StoreConformanceSuite {
  static let sharedStoreCases =
    [
      ConformanceCase("A second node sees an answered write of the first at once") {
        store, harness in
        let second = try await harness.open()
        try await store.submit(
          TransactionSample("1", "1").with {
            $0.token = token(1); $0.appTransaction = "900"
          }, by: "alice")
        _ = try await store.addGrant(sampleGrant(1))
        let alice = try await store.customer(.account("alice"))
        for selector: CustomerSelector in [
          .account("alice"), .originalTransaction("1"), .appTransaction("900"),
          .appAccountToken(token(1)),
        ] {
          try expectEqual(try await second.customer(selector), alice, "\(selector)")
        }
        await second.close()
        try expectEqual(try await store.customer(.account("alice")), alice)
      },

      ConformanceCase("A second node decides with the writes of the first (R41)") {
        store, harness in
        let second = try await harness.open()
        let keep = PolicySample.catalog(.keep)
        try await store.submit(
          TransactionSample("1", "1").with { $0.token = token(1) }, by: "alice", under: keep)
        // Without a token: a claim would make it ambiguous (R71).
        let sample = TransactionSample("0", "0")
        try await store.submit(sample, by: "alice", under: keep)
        let claim = try await second.submit(sample, by: "bob", under: keep)
        try expectEqual(claim.links, [.alreadyLinked])
        try expectEqual(claim.dispositions, [.duplicate])
        try await second.done(.merge("alice", into: "carol"))
        try await store.submit(TransactionSample("2", "2").with { $0.token = token(1) })
        try await store.submit(TransactionSample("3", "3"), by: "alice")
        try expectEqual(
          try await second.links(of: "carol"), [.chain("0"), .chain("1"), .chain("2"), .chain("3")])
        await second.close()
      },

      ConformanceCase("A second node is notified of commits of the first") { store, harness in
        let second = try await harness.open()
        var announcements = second.announcements().makeAsyncIterator()
        var position = try await second.feedEnd()
        for number in 0..<10 {
          let receipt = try await store.submit(
            TransactionSample("\(number)", "\(number)"), by: "alice")
          // The commit was answered: it is reported, with or without its announcement.
          let told = try await second.changedCustomers(after: position)
          try expect(Set(told.subjects).isSuperset(of: receipt.changed), "told of \(told.subjects)")
          try expect(told.latest >= receipt.customers[0].revision, "latest is \(told.latest)")
          position = told.position
          _ = try unwrap(await announcements.next(), "announcement of \(number)")
        }
        try expectEqual(try await second.feed(), try await store.feed())
        await second.close()
      },

      ConformanceCase("Changes trimmed by one node are gone for the other") { store, harness in
        let second = try await harness.open()
        for number in 1...4 {
          try await store.submit(
            TransactionSample("\(number)", "1"), at: Milliseconds(Int64(number)))
        }
        let feed = try await second.feed()
        try expectEqual(try await store.trimChanges(committedBefore: 3, limit: 100), 2)
        try expectEqual(try await second.changes(after: 0, limit: 10), Array(feed.suffix(2)))
        try await expectError(.cursorExpired) {
          _ = try await second.changes(after: feed[0].sequence, limit: 10)
        }
        await second.close()
      },

      ConformanceCase("Claims, transfers, merges and deletions on two nodes are consistent (R41)") {
        store, harness in
        let second = try await harness.open()
        try await mix { $0.isMultiple(of: 2) ? store : second }
        await second.close()
      },
    ]
    + LinkPolicy.allCases.map { policy in
      ConformanceCase(
        "Under \(policy.rawValue) concurrent claims on two nodes are consistent (R45)"
      ) { store, harness in
        let second = try await harness.open()
        try await contend(under: policy, isActive: true) {
          $0.isMultiple(of: 2) ? store : second
        }
        await second.close()
      }
    }
}
