import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let concurrencyCases = [
    ConformanceCase("Each of many concurrent commits takes effect once") { store, _ in
      let receipts = try await withThrowingTaskGroup(of: CommitReceipt.self) { group in
        for number in 0..<200 {
          group.addTask {
            // Each fact comes twice, each account four times.
            try await store.submit(
              TransactionSample("\(number / 2)", "\(number / 2)"),
              by: AccountID("account-\(number / 4)"))
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let dispositions = receipts.flatMap(\.dispositions)
      try expectEqual(dispositions.count { $0 == .added }, 100, "facts added")
      try expectEqual(dispositions.count { $0 == .duplicate }, 100, "duplicates")
      let accounts = try await store.accounts(in: readerScope, after: nil, limit: 1_000)
      try expectEqual(accounts.count, 50)
      try expect(accounts.allSatisfy { $0.chainCount == 2 }, "an account lacks a chain")

      let feed = try await store.feed()
      try expectEqual(feed.count, 100, "changes")
      try expectEqual(
        Set(feed.map(\.sequence)), Set(receipts.filter { !$0.changed.isEmpty }.map(\.revision)),
        "the answered numbers")
      try expectEqual(feed.map(\.sequence), feed.map(\.sequence).sorted(), "order of the feed")
    },

    ConformanceCase("A chain claimed by many accounts at once moves from one to the next (R45)") {
      store, _ in
      let sample = TransactionSample("1", "1")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<64 {
          group.addTask {
            try await store.submit(
              sample, by: AccountID("account-\(number)"), under: PolicySample.catalog(.transfer))
          }
        }
        try await group.waitForAll()
      }
      let history = try await store.linkHistory(of: .chain("1"), in: readerScope)
      try expectEqual(history.count, 64)
      try expectEqual(history.map(\.from), [nil] + history.dropLast().map(\.to), "hands")
      let winner = try unwrap(history.last?.to, "winner")
      try expectEqual(try await store.account(of: "1"), winner)
      let accounts = try await store.accounts(in: readerScope, after: nil, limit: 100)
      try expectEqual(
        accounts.filter { $0.chainCount > 0 }.map(\.accountID), [winner], "accounts with the chain")
      try expectEqual(try await store.feed().count, 64 + 63, "changes: each winner, each loser")
    },

    ConformanceCase("A reader sees whole submissions, and revisions never decrease") { store, _ in
      // Each submission adds two chains to the account.
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for number in 0..<50 {
            try await store.submit(
              [
                TransactionSample("\(number)a", "\(number)a").signed(),
                TransactionSample("\(number)b", "\(number)b").signed(),
              ], by: "alice")
          }
        }
        for _ in 0..<4 {
          group.addTask {
            var last = StoredCustomer(record: CustomerRecord(scope: readerScope), subject: nil)
            for _ in 0..<50 {
              let next = try await store.customer(.account("alice"))
              let count = next.record.facts.count
              try expect(count.isMultiple(of: 2), "half a submission: \(count) facts")
              try expect(
                next.record.revision >= last.record.revision && count >= last.record.facts.count,
                "a reader saw an older revision")
              last = next
            }
          }
        }
        try await group.waitForAll()
      }
      try expectEqual(try await store.customer(.account("alice")).record.facts.count, 100)
    },
  ]
}

extension CommitReceipt {
  /// The revision of the only customer that the submissions of these cases concern.
  fileprivate var revision: Int64 { customers.first?.revision ?? 0 }
}
