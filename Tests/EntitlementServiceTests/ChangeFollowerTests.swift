import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import Testing

@Suite("Following what other nodes write", .timeLimit(.minutes(1)))
struct ChangeFollowerTests {
  @Test("What one node writes, another answers as soon as it is announced")
  func announced() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { one async throws in
        try await Node.run(bench) { other async throws in
          try await other.state(of: "anna")
          try await other.state(of: "bert")
          #expect(other.isHeld("anna"))
          let revision = try await one.grant(to: "anna")
          try await other.followed(to: revision)
          #expect(!other.isHeld("anna"))
          #expect(other.isHeld("bert"))
          #expect(try await other.state(of: "anna").revision == revision)
          #expect(other.isHeld("anna"))
          #expect(other.follower.statistics.recovered == 0)
        }
      }
    }
  }

  @Test("A lost announcement is made good within a second")
  func lost() async throws {
    try await ServiceBench.run { bench async throws in
      let silent = FaultyStore(bench.store, isSilent: true)
      try await Node.run(bench, store: silent) { node async throws in
        try await node.state(of: "anna")
        let revision = try await bench.grants.add(
          GrantRequest(
            scope: ServiceBench.scope, accountID: "anna", entitlementID: "pro", reason: "r",
            author: "a")
        ).customer.revision
        #expect(node.isHeld("anna"))
        try await node.second()
        #expect(!node.isHeld("anna"))
        #expect(try await node.state(of: "anna").revision == revision)
        #expect(node.follower.statistics.recovered == 1)
        #expect(node.follower.statistics.changed >= 1)
      }
    }
  }

  @Test("A node that cannot look stops answering from memory at the bound, not before")
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
            author: "a"))
        for _ in 1...5 { try await node.second() }
        #expect(node.follower.isCurrent)
        #expect(node.isHeld("anna"))
        try await node.second()
        #expect(!node.follower.isCurrent)
        #expect(!node.isHeld("anna"))
        #expect(!node.isHeld("bert"))
        // The store itself answers all the same, and what is known here of a revision still counts.
        #expect(try await node.state(of: "anna").coreState == .active)
        #expect(
          node.reader.cachedAnswer(to: node.query("bert", .atLeastAsFresh(revision: 0))) != nil)
        #expect(node.follower.statistics.staleBypasses == 1)
        #expect(node.follower.statistics.failedLooks >= 6)

        store.set(isBroken: false)
        try await node.second()
        #expect(node.follower.isCurrent)
        // Nothing changed there: it was kept. The other was dropped.
        #expect(node.isHeld("bert"))
        #expect(!node.isHeld("anna"))
      }
    }
  }

  @Test("When the feed does not reach back, all that is held goes, and following begins anew")
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
              author: "a"))
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

  @Test("A store that tells in parts is read to its end in one look")
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
              author: "a")
          ).customer.revision
        }
        #expect(node.reader.statistics.entries == 9)
        try await node.second()
        #expect(node.follower.position == last)
        #expect(node.reader.statistics.entries == 0)
      }
    }
  }

  @Test("When too many changed to drop each, all that is held goes, and following goes on")
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
              reason: "r", author: "a")
          ).customer.revision
        }
        let looks = store.looks.count
        try await node.second()
        #expect(store.looks.count - looks == 3)
        #expect(node.follower.position == last)
        #expect(node.follower.statistics.cleared == 1)
        #expect(node.reader.statistics.entries == 0)
      }
    }
  }

  @Test("A start anew that fails is made up for by the next look")
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
            author: "a")
        ).customer.revision
        _ = try await bench.store.trimChanges(committedBefore: Milliseconds(.max), limit: 100)
        store.set(isUnbegun: true)
        try await node.second()
        #expect(node.follower.statistics.failedLooks == 1)
        store.set(isUnbegun: false)
        try await node.second()
        #expect(!node.isHeld("bert"))
        #expect(node.follower.position == last)
      }
    }
  }

  @Test("What is told beyond the end of the feed is looked at again soon, without an announcement")
  func unsettled() async throws {
    try await ServiceBench.run { bench async throws in
      let store = UnsettledStore(bench.store)
      try await Node.run(bench, store: store) { node async throws in
        store.tell("anna", latest: 7)
        await node.timer.sleepersBegun(1)
        node.timer.advance(by: .seconds(1))
        try await node.turns { store.looks >= 1 }
        // The ticker, and the pause before the next look.
        await node.timer.sleepersBegun(2)
        let looks = store.looks
        node.timer.advance(by: .milliseconds(50))
        try await node.turns { store.looks > looks }
        #expect(node.follower.position == 0)
        // Next time it takes twice as long.
        await node.timer.sleepersBegun(2)
        node.timer.advance(by: .milliseconds(99))
        #expect(store.looks == looks + 1)
        node.timer.advance(by: .milliseconds(1))
        try await node.turns { store.looks > looks + 1 }
      }
    }
  }

  @Test("Before the first look nothing held counts, and the primary is asked")
  func beforeFirstLook() async throws {
    try await ServiceBench.run { bench async throws in
      let gated = GatedStore()
      let timer = MovableTimer()
      let reader = CustomerReader(
        store: gated, catalog: bench.holder, clock: bench.clock.clock,
        horizon: FeedHorizon(staleness: .seconds(5), timer: timer.timer), cacheBytes: 1 << 20,
        limits: .forTests, encode: StateCoding.encode)
      let query = CustomerQuery(selector: .account("anna"), scope: ServiceBench.scope)
      for _ in 0..<2 { _ = try await reader.answer(to: query) }
      #expect(gated.freshness == [.primary, .primary])
    }
  }
}
