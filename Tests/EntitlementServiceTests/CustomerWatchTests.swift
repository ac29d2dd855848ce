import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import StoreSimulator
import Synchronization
import Testing
import Workers

@Suite("Watches", .timeLimit(.minutes(1)))
struct CustomerWatchTests {
  private typealias Item = WatchItem

  /// Items until `count` changes arrived, without items that have a cursor alone.
  private func changes(
    _ count: Int, from watcher: Watcher
  ) async throws -> [Item] {
    var items: [Item] = []
    while items.count < count {
      items += try await watcher.next().filter { $0.change != nil }
    }
    return items
  }

  @Test("Each change comes once, in its order, with the state after it and its cursor")
  func fromNow() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        try await node.grant(to: "before")
        let watcher = try await node.watch.start(WatchRequest())
        let start = try await watcher.next()
        #expect(start.map(\.cursor.position) == [try await bench.store.feedEnd()])
        #expect(start.allSatisfy { $0.change == nil && $0.state == nil })
        let first = try await node.grant(to: "anna")
        let second = try await node.grant("ad_free", to: "anna")
        let items = try await changes(2, from: watcher)
        #expect(items.map(\.change?.sequence) == [first, second])
        #expect(items.map(\.cursor.position) == [first, second])
        #expect(items.allSatisfy { $0.change?.subject == .account(ServiceBench.scope, "anna") })
        #expect(items.allSatisfy { $0.change?.kinds == .grants })
        #expect(items.last?.decodedState?.revision == second)
        #expect(items.first?.decodedState.map { $0.revision >= first } == true)
      }
    }
  }

  @Test("Changes of other nodes are delivered too")
  func otherNode() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { one async throws in
        try await Node.run(bench) { other async throws in
          // Cached, and out of date after the other node's write.
          try await other.state(of: "anna")
          let watcher = try await other.watch.start(WatchRequest())
          _ = try await watcher.next()
          let revision = try await one.grant(to: "anna")
          let items = try await changes(1, from: watcher)
          #expect(items.map(\.decodedState?.revision) == [revision])
        }
      }
    }
  }

  @Test("From any cursor, also one within a page, exactly the later changes are delivered")
  func resumed() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(
        bench, limits: WatchLimits(window: 7, page: 5, batch: 3)
      ) { node async throws in
        var sequences: [Int64] = []
        for number in 0..<23 {
          sequences.append(try await node.grant(to: AccountID("a\(number % 4)")))
        }
        try await node.followed(to: sequences[22])
        for start in 0..<sequences.count {
          let cursor = start == 0 ? 0 : sequences[start - 1]
          let watcher = try await node.watch.start(
            WatchRequest(cursor: WatchCursor(position: cursor)))
          let items = try await changes(sequences.count - start, from: watcher)
          #expect(items.compactMap(\.change?.sequence) == Array(sequences[start...]))
          #expect(items.allSatisfy { $0.state != nil })
        }
      }
    }
  }

  @Test(
    "Only matching changes are delivered",
    arguments: [
      (WatchRequest(accounts: ["anna"]), [true, false, false, true]),
      (WatchRequest(kinds: .grants), [true, false, false, false]),
      (WatchRequest(kinds: [.linked, .grants]), [true, false, true, true]),
      (WatchRequest(bundleID: "com.example.other"), [false, false, false, false]),
      (WatchRequest(bundleID: ServiceBench.scope.bundleID), [true, true, true, true]),
      (WatchRequest(environment: .sandbox), [false, false, false, false]),
      (WatchRequest(), [true, true, true, true]),
    ])
  func filtered(request: WatchRequest, isExpected: [Bool]) async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        try await node.grant(to: "anna")
        _ = try await bench.submit([try bench.purchase("1")])
        _ = try await bench.submit([try bench.purchase("2")], account: "bert")
        _ = try await bench.submit([try bench.purchase("3")], account: "anna")
        let all = try await bench.store.changes(after: 0, limit: 10)
        try #require(all.count == 4)
        // The last change, which moves the cursor of every watch.
        try await node.followed(to: all[3].sequence)
        var request = request
        request.cursor = WatchCursor(position: 0)
        let expected = zip(all, isExpected).filter(\.1).map(\.0)
        try await WatchLog.run(node.watch, request) { log async throws in
          try await node.wait {
            !log.items.isEmpty && log.items.compactMap(\.change).count >= expected.count
          }
          // The cursor skips changes that do not match, with the next change or a heartbeat.
          for _ in 0..<10 { try await node.second() }
          try await node.wait { log.items.last?.cursor.position == all[3].sequence }
          #expect(log.items.compactMap(\.change) == expected)
          let positions = log.items.map(\.cursor.position)
          #expect(positions == positions.sorted())
        }
      }
    }
  }

  @Test("A watch without states loads none")
  func withoutStates() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        let watcher = try await node.watch.start(WatchRequest(isWithoutStates: true))
        try await node.grant(to: "anna")
        let items = try await changes(1, from: watcher)
        #expect(items.map { $0.state == nil } == [true])
        #expect(node.reader.statistics.misses == 0)
      }
    }
  }

  @Test("Events of a notification are delivered, also without a new revision")
  func events() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        let watcher = try await node.watch.start(WatchRequest(kinds: .events))
        for event in try bench.signed(.refunded) {
          guard let jws = event.notification else { continue }
          _ = try await bench.submit(notification: jws, account: "anna")
        }
        let expected = try await bench.store.changes(after: 0, limit: 100)
          .filter { $0.kinds.contains(.events) }
        try #require(!expected.isEmpty)
        let items = try await changes(expected.count, from: watcher)
        #expect(items.compactMap(\.change) == expected)
        #expect(items.compactMap(\.change).flatMap(\.events).map(\.kind).contains(.refunded))
      }
    }
  }

  @Test("A merged or deleted account is delivered with the current state of its id")
  func mergedAndDeleted() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        _ = try await bench.submit([try bench.purchase()], account: "anna")
        let audit = ChangeAudit(onBehalfOf: "a", reason: "r", caller: .server)
        let watcher = try await node.watch.start(WatchRequest(kinds: .merged))
        _ = try await node.links.merge("anna", into: "bert", in: ServiceBench.scope, audit)
        let merged = try await changes(2, from: watcher)
        #expect(
          Set(merged.compactMap(\.change?.subject)) == [
            .account(ServiceBench.scope, "anna"), .account(ServiceBench.scope, "bert"),
          ])
        #expect(merged.map(\.decodedState?.accountID) == ["bert", "bert"])
        #expect(merged.map(\.decodedState?.coreState) == [.active, .active])

        let ends = try await node.watch.start(WatchRequest(accounts: ["bert"], kinds: .deleted))
        _ = try await node.records.delete("bert", in: ServiceBench.scope, audit)
        let deleted = try await changes(1, from: ends)
        #expect(deleted.map(\.decodedState?.coreState) == [.new])
      }
    }
  }

  @Test("A customer whose state cannot be read is delivered without it, the others with theirs")
  func unreadable() async throws {
    try await ServiceBench.run { bench async throws in
      let store = FaultyStore(bench.store)
      store.set(unreadable: "anna")
      try await Node.run(bench, store: store) { node async throws in
        let watcher = try await node.watch.start(WatchRequest())
        let first = try await node.grant(to: "anna")
        let second = try await node.grant(to: "bert")
        let items = try await changes(2, from: watcher)
        #expect(items.map(\.change?.sequence) == [first, second])
        #expect(items.map(\.decodedState?.accountID) == [nil, "bert"])
      }
    }
  }

  @Test("Without changes, the cursor alone is delivered every ten seconds")
  func heartbeat() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        try await WatchLog.run(node.watch, WatchRequest(accounts: ["anna"])) { log async throws in
          try await node.wait { log.items.count == 1 }
          for beat in 1...2 {
            let other = try await node.grant(to: AccountID("bert\(beat)"))
            try await node.followed(to: other)
            for _ in 0..<9 { try await node.second() }
            #expect(log.items.count == beat)
            try await node.second()
            try await node.wait { log.items.count > beat }
            #expect(log.items.last?.cursor.position == other)
            #expect(log.items.last?.change == nil)
          }
        }
      }
    }
  }

  @Test("Invalid and trimmed cursors are refused; zero is the first stored change")
  func cursors() async throws {
    for text in ["", "-1", "x", "01", "+1", "1 ", "9223372036854775808"] {
      let error = #expect(throws: ServiceError.self) { try WatchCursor(parsing: text) }
      #expect(error?.code == .invalidArgument(field: "cursor"), "\(text)")
    }
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        let first = try await node.grant(to: "anna")
        let second = try await node.grant(to: "bert")
        let third = try await node.grant(to: "carl")
        let beyond = await #expect(throws: ServiceError.self) {
          try await node.watch.start(WatchRequest(cursor: WatchCursor(position: third + 1)))
        }
        #expect(beyond?.code == .outOfRange)
        #expect(
          try await bench.store.trimChanges(committedBefore: Milliseconds(.max), limit: 2) == 2)
        let expired = await #expect(throws: ServiceError.self) {
          try await node.watch.start(WatchRequest(cursor: WatchCursor(position: first)))
        }
        #expect(expired?.code == .outOfRange)
        for start in [0, second] {
          let watcher = try await node.watch.start(
            WatchRequest(cursor: WatchCursor(position: start)))
          let items = try await changes(1, from: watcher)
          #expect(items.map(\.change?.sequence) == [third])
        }
        // All watches are closed again.
        #expect(node.watch.values.first { $0.name == "watches.open" }?.value == 0)
      }
    }
  }

  @Test("A watch whose next changes are trimmed ends with OUT_OF_RANGE, also after a retry")
  func trimmedMeanwhile() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        let first = try await node.grant(to: "anna")
        let watcher = try await node.watch.start(
          WatchRequest(cursor: WatchCursor(position: first)))
        let received = try await watcher.next()
        #expect(received.map(\.cursor.position) == [first])
        try await node.grant(to: "bert")
        let last = try await node.grant(to: "carl")
        try await node.followed(to: last)
        #expect(
          try await bench.store.trimChanges(committedBefore: Milliseconds(.max), limit: 2) == 2)
        let ended = await #expect(throws: ServiceError.self) { try await watcher.next() }
        #expect(ended?.code == .outOfRange)
        let resumed = await #expect(throws: ServiceError.self) {
          try await node.watch.start(WatchRequest(cursor: received.last?.cursor))
        }
        #expect(resumed?.code == .outOfRange)
      }
    }
  }

  @Test("A watch above the limit is refused, and admitted after another one ended")
  func tooMany() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench, limits: WatchLimits(watches: 2)) { node async throws in
        let first = try await node.watch.start(WatchRequest())
        do {
          let second = try await node.watch.start(WatchRequest())
          let error = await #expect(throws: ServiceError.self) {
            try await node.watch.start(WatchRequest())
          }
          #expect(error?.code == .resourceExhausted)
          _ = try await second.next()
        }
        let third = try await node.watch.start(WatchRequest())
        _ = try await (first.next(), third.next())
      }
    }
  }

  @Test("A source has at most as many watches as it leaves to others")
  func shares() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench, limits: WatchLimits(watches: 8)) { node async throws in
        var watchers: [Watcher] = []
        let greedy = WatchRequest(source: .caller(1))
        for _ in 0..<4 { watchers.append(try await node.watch.start(greedy)) }
        let error = await #expect(throws: ServiceError.self) { try await node.watch.start(greedy) }
        #expect(error?.code == .resourceExhausted)
        watchers.append(try await node.watch.start(WatchRequest(source: .caller(2))))
        watchers.append(try await node.watch.start(WatchRequest(source: .caller(2))))
        _ = try await watchers[0].next()
      }
    }
  }

  @Test("Many watchers of the end of the feed cost one read of the store for each change")
  func shared() async throws {
    try await ServiceBench.run { bench async throws in
      let store = FaultyStore(bench.store)
      try await Node.run(bench, store: store) { node async throws in
        try await node.grant(to: "before")
        var watchers: [Watcher] = []
        for _ in 0..<50 {
          let watcher = try await node.watch.start(WatchRequest())
          _ = try await watcher.next()
          watchers.append(watcher)
        }
        let last = try await node.grant(to: "anna")
        for watcher in watchers {
          #expect(try await changes(1, from: watcher).map(\.cursor.position) == [last])
        }
        let reads = store.feedReads
        for number in 0..<20 {
          let sequence = try await node.grant(to: AccountID("a\(number)"))
          try await node.followed(to: sequence)
          for watcher in watchers { _ = try await changes(1, from: watcher) }
        }
        #expect(store.feedReads - reads <= 20)
      }
    }
  }

  @Test("A waiting watcher ends when its task is cancelled")
  func cancelled() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        let watch = node.watch
        let task = Task {
          let watcher = try await watch.start(WatchRequest())
          while true { _ = try await watcher.next() }
        }
        try await node.wait { watch.values.first { $0.name == "watches.items" }?.value == 1 }
        task.cancel()
        await #expect(throws: ServiceError.self) { try await task.value }
        #expect(watch.values.first { $0.name == "watches.open" }?.value == 0)
      }
    }
  }

  @Test("A customer of an app that left the catalog is delivered without a state")
  func notServed() async throws {
    try await ServiceBench.run { bench async throws in
      try await Node.run(bench) { node async throws in
        try await node.followed(to: try await node.grant(to: "anna"))
        bench.holder.replace(with: Catalog())
        let watcher = try await node.watch.start(
          WatchRequest(cursor: WatchCursor(position: 0)))
        let items = try await changes(1, from: watcher)
        #expect(items.map { $0.state == nil } == [true])
      }
    }
  }
}

/// Collects the items of a watch in a task.
private final class WatchLog: Sendable {
  private let recorded = Mutex<[WatchItem]>([])

  var items: [WatchItem] { recorded.withLock { $0 } }

  /// Runs `body` while a watch is open, and closes the watch afterwards.
  static func run(
    _ watch: CustomerWatch, _ request: WatchRequest,
    _ body: (WatchLog) async throws -> Void
  ) async throws {
    let log = WatchLog()
    let task = Task {
      let watcher = try await watch.start(request)
      while true {
        let items = try await watcher.next()
        log.recorded.withLock { $0 += items }
      }
    }
    defer { task.cancel() }
    try await body(log)
  }
}
