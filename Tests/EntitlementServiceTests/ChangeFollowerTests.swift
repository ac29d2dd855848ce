import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import Testing

@Suite("Following the changes of other nodes", .timeLimit(.minutes(1)))
struct ChangeFollowerTests {
  @Test("A write of one node is answered by another after its announcement")
  func announced() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { one async throws in
        try await Node.run(bench) { other async throws in
          try await other.state(of: "anna")
          try await other.state(of: "bert")
          #expect(other.isCached("anna"))
          let revision = try await one.grant(to: "anna")
          try await other.followed(to: revision)
          #expect(!other.isCached("anna"))
          #expect(other.isCached("bert"))
          #expect(try await other.state(of: "anna").revision == revision)
          #expect(other.isCached("anna"))
          #expect(other.follower.statistics.recovered == 0)
        }
      }
    }
  }

  @Test("A poll recovers a lost announcement within a second")
  func lost() async throws {
    try await ServiceBench.run { bench async throws in
      let silent = FaultyStore(bench.store, isSilent: true)
      try await Node.run(bench, store: silent) { node async throws in
        try await node.state(of: "anna")
        let revision = try await bench.grants.add(
          GrantRequest(
            scope: ServiceBench.scope, accountID: "anna", entitlementID: "pro", reason: "r",
            onBehalfOf: "a")
        ).customer.revision
        #expect(node.isCached("anna"))
        try await node.second()
        #expect(!node.isCached("anna"))
        #expect(try await node.state(of: "anna").revision == revision)
        #expect(node.follower.statistics.recovered == 1)
        #expect(node.follower.statistics.changed >= 1)
      }
    }
  }

  @Test("A node that cannot poll serves cached answers up to the staleness bound, not longer")
  func stale() async throws {
    try await ServiceBench.run { bench async throws in
      let store = FaultyStore(bench.store, isSilent: true)
      try await Node.run(bench, store: store) { node async throws in
        try await node.state(of: "anna")
        try await node.state(of: "bert")
        store.set(isBroken: true)
        _ = try await bench.grants.add(
          GrantRequest(
            scope: ServiceBench.scope, accountID: "anna", entitlementID: "pro", reason: "r",
            onBehalfOf: "a"))
        for _ in 1...5 { try await node.second() }
        #expect(node.follower.isCurrent)
        #expect(node.isCached("anna"))
        try await node.second()
        #expect(!node.follower.isCurrent)
        #expect(!node.isCached("anna"))
        #expect(!node.isCached("bert"))
        // The store still answers, and a revision that is known to this node still counts.
        #expect(try await node.state(of: "anna").coreState == .active)
        #expect(
          node.reader.cachedAnswer(to: node.query("bert", .atLeastAsFresh(revision: 0))) != nil)
        #expect(node.follower.statistics.staleBypasses == 1)
        #expect(node.follower.statistics.failedPolls >= 6)

        store.set(isBroken: false)
        try await node.second()
        #expect(node.follower.isCurrent)
        // The unchanged answer stayed cached. The other one was invalidated.
        #expect(node.isCached("bert"))
        #expect(!node.isCached("anna"))
      }
    }
  }

  @Test("After an expired cursor, everything is invalidated and the follower restarts")
  func cleared() async throws {
    try await ServiceBench.run { bench async throws in
      let store = FaultyStore(bench.store, isSilent: true)
      try await Node.run(bench, store: store) { node async throws in
        try await node.grant(to: "anna")
        try await node.second()
        try await node.state(of: "anna")
        try await node.state(of: "bert")
        for account: AccountID in ["carl", "anna", "dora"] {
          _ = try await bench.grants.add(
            GrantRequest(
              scope: ServiceBench.scope, accountID: account, entitlementID: "pro", reason: "r",
              onBehalfOf: "a"))
        }
        let end = try await bench.store.feedEnd()
        #expect(
          try await bench.store.trimChanges(committedBefore: Milliseconds(.max), limit: 100) == 4)
        try await node.second()
        #expect(node.follower.statistics.cleared == 1)
        #expect(node.follower.position == end)
        #expect(node.reader.statistics.entries == 0)
        #expect(node.follower.isCurrent)
        #expect(try await node.state(of: "anna").entitlements.flatMap(\.sources).count == 2)
      }
    }
  }

  @Test("One poll reads all pages")
  func parts() async throws {
    try await ServiceBench.run { bench async throws in
      let store = FaultyStore(bench.store, isSilent: true, partSize: 2)
      try await Node.run(bench, store: store) { node async throws in
        var last: Int64 = 0
        for number in 0..<9 {
          let account = AccountID("a\(number)")
          try await node.state(of: account)
          last = try await bench.grants.add(
            GrantRequest(
              scope: ServiceBench.scope, accountID: account, entitlementID: "pro", reason: "r",
              onBehalfOf: "a")
          ).customer.revision
        }
        #expect(node.reader.statistics.entries == 9)
        try await node.second()
        #expect(node.follower.position == last)
        #expect(node.reader.statistics.entries == 0)
      }
    }
  }

  @Test("When too many customers changed, everything is invalidated and the follower continues")
  func tooMany() async throws {
    try await ServiceBench.run { bench async throws in
      let store = FaultyStore(bench.store, isSilent: true, partSize: 2)
      try await Node.run(bench, store: store, following: FollowingLimits(pause: .zero, subjects: 4))
      { node async throws in
        try await node.state(of: "other")
        var last: Int64 = 0
        for number in 0..<9 {
          last = try await bench.grants.add(
            GrantRequest(
              scope: ServiceBench.scope, accountID: AccountID("a\(number)"), entitlementID: "pro",
              reason: "r", onBehalfOf: "a")
          ).customer.revision
        }
        let polls = store.polls.count
        try await node.second()
        #expect(store.polls.count - polls == 3)
        #expect(node.follower.position == last)
        #expect(node.follower.statistics.cleared == 1)
        #expect(node.reader.statistics.entries == 0)
      }
    }
  }

  @Test("The poll after a failed restart repeats it")
  func failedStart() async throws {
    try await ServiceBench.run { bench async throws in
      let store = FaultyStore(bench.store, isSilent: true)
      try await Node.run(bench, store: store) { node async throws in
        try await node.grant(to: "anna")
        try await node.second()
        try await node.state(of: "bert")
        let last = try await bench.grants.add(
          GrantRequest(
            scope: ServiceBench.scope, accountID: "bert", entitlementID: "pro", reason: "r",
            onBehalfOf: "a")
        ).customer.revision
        _ = try await bench.store.trimChanges(committedBefore: Milliseconds(.max), limit: 100)
        store.set(isCursorBroken: true)
        try await node.second()
        #expect(node.follower.statistics.failedPolls == 1)
        store.set(isCursorBroken: false)
        try await node.second()
        #expect(!node.isCached("bert"))
        #expect(node.follower.position == last)
      }
    }
  }

  @Test("Changes beyond the end of the feed are polled again soon, without an announcement")
  func unsettled() async throws {
    try await ServiceBench.run { bench async throws in
      let store = UnsettledStore(bench.store)
      try await Node.run(bench, store: store) { node async throws in
        store.add("anna", latest: 7)
        await node.timer.sleepersBegun(1)
        node.timer.advance(by: .seconds(1))
        try await node.wait { store.polls >= 1 }
        // The ticker, and the delay before the next poll.
        await node.timer.sleepersBegun(2)
        let polls = store.polls
        node.timer.advance(by: .milliseconds(50))
        try await node.wait { store.polls > polls }
        #expect(node.follower.position == 0)
        // The next delay is twice as long.
        await node.timer.sleepersBegun(2)
        node.timer.advance(by: .milliseconds(99))
        #expect(store.polls == polls + 1)
        node.timer.advance(by: .milliseconds(1))
        try await node.wait { store.polls > polls + 1 }
      }
    }
  }

  @Test("Before the first poll no cached answer is served, and reads go to the primary")
  func beforeFirstLook() async throws {
    try await ServiceBench.run { bench async throws in
      let gated = GatedStore()
      let timer = MovableTimer()
      let reader = CustomerReader(
        store: gated, catalog: bench.holder, clock: bench.clock.clock,
        watermark: FeedWatermark(staleness: .seconds(5), timer: timer.timer), cacheBytes: 1 << 20,
        limits: .forTests, encode: StateCoding.encode)
      let query = CustomerQuery(selector: .account("anna"), scope: ServiceBench.scope)
      for _ in 0..<2 { _ = try await reader.answer(to: query) }
      #expect(gated.freshness == [.primary, .primary])
    }
  }
}
