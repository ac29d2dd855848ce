import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import Testing

@Suite("After a failover that lost the last changes", .timeLimit(.minutes(1)))
struct LostHistoryTests {
  /// A node that has seen two grants, of which the database after the failover has only the first.
  private func run(
    _ body: (ServiceBench, Node, ReplaceableStore, _ kept: Int64, _ lost: Int64) async throws
      -> Void
  ) async throws {
    try await ServiceBench.run { bench async throws in
      let store = try ReplaceableStore(bench.store)
      try await Node.run(bench, store: store) { node async throws in
        try await store.prepare(bench, ["anna"])
        let kept = try await node.grant(to: "anna")
        bench.clock.set(ServiceBench.now.advanced(by: 1_000))
        let lost = try await node.grant(to: "bert")
        try await node.second()
        try await node.followed(to: lost)
        try await body(bench, node, store, kept, lost)
      }
      await store.close()
    }
  }

  @Test("No earlier cached answer is served, though its numbers were reused")
  func cleared() async throws {
    try await run { bench, node, store, _, lost async throws in
      #expect(try await node.state(of: "bert").coreState == .active)
      #expect(node.isCached("bert"))
      store.replace()
      bench.clock.set(ServiceBench.now.advanced(by: 2_000))
      #expect(try await node.grant(to: "carl") == lost)
      try await node.second()
      #expect(!node.isCached("bert"))
      #expect(try await node.state(of: "bert").coreState == .new)
      #expect(node.follower.statistics.cleared == 1)
      #expect(node.follower.position == lost)
      #expect(node.follower.isCurrent)
      // The follower works as before from here on.
      try await node.grant(to: "bert")
      try await node.second()
      #expect(node.follower.statistics.cleared == 1)
    }
  }

  @Test("A watch with a lost change ends with OUT_OF_RANGE, though its number was reused")
  func lostWatch() async throws {
    try await run { bench, node, store, kept, lost async throws in
      let watcher = try await node.watch.start(
        WatchRequest(cursor: WatchCursor(position: kept)))
      var last: WatchItem?
      while last?.change?.sequence != lost { last = try await watcher.next().last }
      store.replace()
      bench.clock.set(ServiceBench.now.advanced(by: 2_000))
      #expect(try await node.grant(to: "carl") == lost)
      try await node.grant(to: "dora")
      try await node.second()
      let ended = await #expect(throws: ServiceError.self) { try await watcher.next() }
      #expect(ended?.code == .outOfRange)
      let resumed = await #expect(throws: ServiceError.self) {
        try await node.watch.start(WatchRequest(cursor: last?.cursor))
      }
      #expect(resumed?.code == .outOfRange)
    }
  }

  @Test("A watch continues from a change before the lost one, and misses nothing")
  func keptWatch() async throws {
    try await run { bench, node, store, kept, lost async throws in
      let first = try #require(try await bench.store.changes(after: 0, limit: 1).first)
      let cursor = WatchCursor(position: kept, committedAt: first.committedAt)
      let watcher = try await node.watch.start(WatchRequest(cursor: cursor))
      #expect(try await watcher.next().map(\.cursor) == [cursor])
      // Another watch has read, so the lost change is cached for all.
      let other = try await node.watch.start(WatchRequest(cursor: cursor))
      _ = try await other.next()
      #expect(try await other.next().last?.change?.sequence == lost)
      store.replace()
      bench.clock.set(ServiceBench.now.advanced(by: 2_000))
      try await node.grant(to: "carl")
      try await node.second()
      let items = try await watcher.next()
      #expect(items.map(\.change?.subject) == [.account(ServiceBench.scope, "carl")])
      #expect(items.map(\.change?.sequence) == [lost])
    }
  }

  @Test("A cursor is a number with the commit time of its change, or a number alone")
  func cursors() throws {
    #expect(WatchCursor(position: 7, committedAt: 9).description == "7.9")
    for text in ["0", "7", "7.9", "9223372036854775807.1790000000000"] {
      #expect(try WatchCursor(parsing: text).description == text)
    }
    for text in ["7.", ".9", "7.9.1", "7.x", "7.09", "7.-0"] {
      #expect(throws: ServiceError.self, "\(text)") { try WatchCursor(parsing: text) }
    }
  }
}
