import EntitlementDomain
import EntitlementStore

// The feed is kept for a limited time; a cursor from before that time gets an error.
extension StoreConformanceSuite {
  static let trimmingCases = [
    ConformanceCase("Old changes are trimmed, oldest first, up to the given count") {
      store, _ in
      let feed = try await fillFeed(store, moments: Array(1...10))
      try expectEqual(try await store.trimChanges(committedBefore: 1, limit: 100), 0)
      for limit in [0, -1] {
        try expectEqual(try await store.trimChanges(committedBefore: 100, limit: limit), 0)
      }
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.trimChanges(committedBefore: 5, limit: 3), 3)
      try expectEqual(try await store.feed(), Array(feed.suffix(7)))
      try expectEqual(try await store.trimChanges(committedBefore: 5, limit: 3), 1)
      try expectEqual(try await store.feed(), Array(feed.suffix(6)))
      try expectEqual(try await store.trimChanges(committedBefore: 5, limit: 3), 0)
    },

    ConformanceCase(
      "A cursor before the trimmed changes has expired; the first kept change is readable"
    ) { store, _ in
      let feed = try await fillFeed(store, moments: Array(1...6))
      _ = try await store.trimChanges(committedBefore: 5, limit: 100)
      for old in feed.prefix(3) {
        try await expectError(.cursorExpired) {
          _ = try await store.changes(after: old.sequence, limit: 10)
        }
        try await expectError(.cursorExpired) {
          _ = try await store.changedCustomers(after: old.sequence)
        }
      }
      // A cursor at the last trimmed change has missed nothing.
      try expectEqual(
        try await store.changes(after: feed[3].sequence, limit: 10), Array(feed.suffix(2)))
      try expectEqual(try await store.changes(after: 0, limit: 10), Array(feed.suffix(2)))
      try expectEqual(
        try await store.changes(after: feed[4].sequence, limit: 10), Array(feed.suffix(1)))
      try expectEqual(
        Set(try await store.changedCustomers(after: 0).subjects),
        Set(feed.suffix(2).compactMap(\.subject)), "changed")
    },

    ConformanceCase("Feed numbers are never reused, also after all changes are trimmed") {
      store, harness in
      let feed = try await fillFeed(store, moments: [1, 2, 3])
      let last = try unwrap(feed.last?.sequence, "number")
      try expectEqual(try await store.trimChanges(committedBefore: 100, limit: 100), 3)
      try expectEqual(try await store.feed(), [])
      try expect(try await store.feedEnd() >= last, "the feed ends before its last change")
      let reopened = try await harness.reopen(store)
      let receipt = try await reopened.submit(TransactionSample("9", "9"))
      try expect((receipt.customers.first?.revision ?? 0) > last, "a feed number was used twice")
      try expectEqual(try await reopened.feed(after: last).map(\.subject), [unlinked("9")])
      try await expectError(.cursorExpired) {
        _ = try await reopened.changes(after: feed[0].sequence, limit: 10)
      }
      await reopened.close()
    },

    ConformanceCase("A change from a clock that went back keeps the changes after it") { store, _ in
      let feed = try await fillFeed(store, moments: [1, 9, 2, 3])
      try expectEqual(try await store.trimChanges(committedBefore: 5, limit: 100), 1)
      try expectEqual(try await store.feed(), Array(feed.suffix(3)))
    },

    ConformanceCase("A change from a clock that was ahead is trimmed with the changes after it") {
      store, _ in
      let feed = try await fillFeed(store, moments: [1, 90, 2, 91, 9, 92, 3, 93])
      try expectEqual(try await store.trimChanges(committedBefore: 5, now: 10, limit: 100), 3)
      try expectEqual(try await store.feed(), Array(feed.suffix(5)))
      // Later: only the last change stays, as it may be new.
      try expectEqual(try await store.trimChanges(committedBefore: 20, now: 30, limit: 100), 4)
      try expectEqual(try await store.feed(), Array(feed.suffix(1)))
      try expectEqual(try await store.trimChanges(committedBefore: 20, now: 30, limit: 100), 0)
      try expectEqual(try await store.trimChanges(committedBefore: 94, now: 95, limit: 100), 1)
    },

    ConformanceCase("Many changes from a clock that was ahead are trimmed in several steps") {
      store, _ in
      let feed = try await fillFeed(store, moments: [90, 91, 92, 93, 1, 94, 95, 96, 9])
      for (limit, count) in [(0, 0), (2, 2), (2, 2), (2, 1), (2, 0), (100, 0)] {
        try expectEqual(
          try await store.trimChanges(committedBefore: 5, now: 10, limit: limit), count)
      }
      try expectEqual(try await store.feed(), Array(feed.suffix(4)))
    },

    ConformanceCase(
      "The feed can be read after any change that is kept, or whose successor is kept"
    ) { store, _ in
      let feed = try await fillFeed(store, moments: [1, 2, 3])
      for change in feed {
        try expectEqual(try await store.commitTimeOfChange(change.sequence), change.committedAt)
      }
      try await expectError(.cursorExpired) {
        _ = try await store.commitTimeOfChange(feed[2].sequence + 1)
      }
      _ = try await store.trimChanges(committedBefore: 3, limit: 100)
      try await expectError(.cursorExpired) {
        _ = try await store.commitTimeOfChange(feed[0].sequence)
      }
      try expectEqual(try await store.commitTimeOfChange(feed[1].sequence), nil)
      try expectEqual(try await store.commitTimeOfChange(feed[2].sequence), 3)
    },

    ConformanceCase("Customers do not change when their changes are trimmed") { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice", at: 1)
      try await store.submit(
        [TransactionSample("2", "2").signed()],
        notification: notification(1, "CONSUMPTION_REQUEST"),
        at: 2)
      let alice = try await store.customer(.account("alice"))
      let chain = try await store.customer(.originalTransaction("2"))
      _ = try await store.feed()
      try expectEqual(try await store.trimChanges(committedBefore: 3, limit: 100), 2)
      try expectEqual(try await store.customer(.account("alice")), alice)
      try expectEqual(try await store.customer(.originalTransaction("2")), chain)
      try expectEqual(try await store.submit(TransactionSample("1", "1")).changed, [])
    },
  ]

  /// One change of a new chain at each date.
  private static func fillFeed(_ store: any EntitlementStore, moments: [Int64]) async throws
    -> [Change]
  {
    for (number, moment) in moments.enumerated() {
      try await store.submit(
        TransactionSample("\(number)", "\(number)"), at: Milliseconds(moment))
    }
    return try await store.feed()
  }
}
