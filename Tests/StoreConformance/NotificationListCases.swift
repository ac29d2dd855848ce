import EntitlementDomain
import EntitlementStore
import TestSupport

// The list of notifications, newest first.
extension StoreConformanceSuite {
  static let notificationListCases = [
    ConformanceCase("Notifications are listed newest first, also those about nothing") { store, _ in
      let purchase = try TransactionSample("1", "10").signed()
      let subscribed = notification(1, "SUBSCRIBED", status: 1) { $0.subtype = "INITIAL_BUY" }
      try await store.submit([purchase], by: "alice", notification: subscribed, at: 5_000)
      let test = notification(2, "TEST", scope: sandbox)
      try await store.submit([], notification: test, at: 6_000)
      let appless = notification(3, "NEW_TYPE", scope: nil) { $0.signedDate = nil }
      try await store.submit([], notification: appless, at: 7_000)
      // Apple sends again what was not answered: it is listed once, as it came first.
      try await store.submit([purchase], by: "alice", notification: subscribed, at: 9_000)
      let page = try await store.notifications(NotificationQuery(limit: 10))
      try expectEqual(page.next, nil)
      try expectEqual(
        page.notifications,
        [
          ListedNotification(
            received: ReceivedRecord(record: appless.record, receivedAt: 7_000), chain: nil),
          ListedNotification(
            received: ReceivedRecord(record: test.record, receivedAt: 6_000), chain: nil),
          ListedNotification(
            received: ReceivedRecord(record: subscribed.record, receivedAt: 5_000), chain: "10"),
        ])
    },

    ConformanceCase("A list of notifications is empty without any, and for a limit of 0") {
      store, _ in
      let all = NotificationQuery(limit: 10)
      let nothing = NotificationPage(notifications: [], next: nil)
      try expectEqual(try await store.notifications(all), nothing)
      try await store.submit([], notification: notification(1, "TEST"))
      for limit in [0, -1] {
        try expectEqual(try await store.notifications(NotificationQuery(limit: limit)), nothing)
      }
      for query in [
        NotificationQuery(bundleID: "com.example.unknown", limit: 10),
        NotificationQuery(environment: .xcode, limit: 10),
        NotificationQuery(
          bundleID: "com.example.unknown", environment: .production, limit: 10),
        NotificationQuery(type: "test", limit: 10),
      ] {
        try expectEqual(try await store.notifications(query), nothing, "\(query)")
      }
    },

    ConformanceCase(
      "A page looks through a bounded number of notifications, and says where it ended"
    ) { store, _ in
      for number in 1...9 {
        try await store.submit(
          [], notification: notification(number, number == 2 ? "TEST" : "DID_RENEW"),
          at: Milliseconds(Int64(number) * 1_000))
      }
      var query = NotificationQuery(type: "TEST", limit: 1, scanLimit: 3)
      var pages: [[NotificationUUID]] = []
      repeat {
        let page = try await store.notifications(query)
        pages.append(page.notifications.map(\.received.record.uuid))
        query.after = page.next
      } while query.after != nil && pages.count < 10
      // 9 8 7, 6 5 4, 3 2, 1; where the last of a page is looked at again: 9 8, 7 6, 5 4, 3 2, 1.
      try expectEqual(pages.flatMap(\.self), [uuid(2)])
      try expectEqual([4, 5].contains(pages.count), true, "\(pages.count) pages")
    },

    ConformanceCase("Pages of notifications neither repeat nor miss any, whatever is selected") {
      store, _ in
      var random = SeededRandom(for: "pages of notifications")
      let stored = try await fill(store, using: &random)
      for _ in 0..<40 {
        let query = NotificationQuery.random(using: &random)
        let listed = try await pages(of: query, in: store)
        let moments = listed.map(\.received.receivedAt)
        try expectEqual(moments, moments.sorted(by: >), "the order of \(query)")
        try expectEqual(
          listed.sorted { $0.received.record.uuid < $1.received.record.uuid },
          stored.filter { query.asksFor($0) }, "\(query)")
      }
      // The order does not depend on the size of the pages.
      let whole = try await store.notifications(NotificationQuery(limit: 1_000)).notifications
      try expectEqual(
        try await pages(of: NotificationQuery(limit: 7), in: store).map(\.received.record.uuid),
        whole.map(\.received.record.uuid))
    },

    ConformanceCase("A list since a moment ends there, and does not look through what is older") {
      store, _ in
      let hour: Int64 = 3_600_000
      for number in 1...9 {
        try await store.submit(
          [], notification: notification(number, "TEST"), at: Milliseconds(Int64(number) * 2 * hour)
        )
      }
      let page = try await store.notifications(
        NotificationQuery(since: Milliseconds(16 * hour), limit: 3, scanLimit: 3))
      try expectEqual(page.notifications.map(\.received.record.uuid), [uuid(9), uuid(8)])
      try expectEqual(page.next, nil)
      let nothing = try await store.notifications(
        NotificationQuery(since: Milliseconds(20 * hour), limit: 3, scanLimit: 3))
      try expectEqual(nothing, NotificationPage(notifications: [], next: nil))
      for since in [Milliseconds(.min), 0] {
        let all = try await store.notifications(NotificationQuery(since: since, limit: 100))
        try expectEqual(all.notifications.count, 9)
      }
    },

    ConformanceCase("A commit that took long is in a list since its moment") { store, _ in
      for (number, moment) in [5_000, 3_000, 4_000].enumerated() {
        try await store.submit(
          [], notification: notification(number, "TEST"), at: Milliseconds(Int64(moment)))
      }
      let page = try await store.notifications(NotificationQuery(since: 4_000, limit: 10))
      try expectEqual(page.notifications.map(\.received.receivedAt).sorted(), [4_000, 5_000])
    },

    ConformanceCase("Notifications that arrive later do not disturb the pages of a list") {
      store, _ in
      for number in 1...6 {
        try await store.submit(
          [], notification: notification(number, "TEST"), at: Milliseconds(Int64(number) * 1_000))
      }
      var query = NotificationQuery(limit: 4)
      let first = try await store.notifications(query)
      try await store.submit([], notification: notification(7, "TEST"), at: 7_000)
      query.after = first.next
      let second = try await store.notifications(query)
      try expectEqual(
        (first.notifications + second.notifications).map(\.received.record.uuid),
        [6, 5, 4, 3, 2, 1].map { uuid($0) })
    },
  ]

  private static let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
  private static let scopes: [AppScope?] = [
    readerScope, sandbox, AppScope(bundleID: "com.example.other", environment: .sandbox), nil,
  ]
  fileprivate static let types = ["TEST", "DID_RENEW"]

  /// Notifications of several apps, often several in a millisecond, in the order of their UUIDs.
  private static func fill(
    _ store: any EntitlementStore, using random: inout SeededRandom
  ) async throws -> [ListedNotification] {
    var stored: [ListedNotification] = []
    var moment: Int64 = 1_000
    let numbers = (1...60).shuffled(using: &random)
    for number in numbers {
      moment += Int64.random(in: 0...2, using: &random) / 2 * 1_000
      let scope = scopes.randomElement(using: &random) ?? nil
      let sample = notification(
        number, types.randomElement(using: &random) ?? "TEST", scope: scope)
      var facts: [SignedFact] = []
      if let scope, Bool.random(using: &random) {
        facts = [
          try TransactionSample("\(number)", "chain-\(number)").with { $0.scope = scope }.signed()
        ]
      }
      try await store.submit(facts, notification: sample, at: Milliseconds(moment))
      stored.append(
        ListedNotification(
          received: ReceivedRecord(record: sample.record, receivedAt: Milliseconds(moment)),
          chain: facts.isEmpty ? nil : OriginalTransactionID("chain-\(number)")))
    }
    return stored.sorted { $0.received.record.uuid < $1.received.record.uuid }
  }

  private static func pages(
    of query: NotificationQuery, in store: any EntitlementStore
  ) async throws -> [ListedNotification] {
    var query = query
    var listed: [ListedNotification] = []
    var count = 0
    repeat {
      let page = try await store.notifications(query)
      try expect(page.notifications.count <= query.limit, "a page of \(page.notifications.count)")
      listed += page.notifications
      query.after = page.next
      count += 1
      try expect(count <= 100, "pages without an end: \(query)")
    } while query.after != nil
    return listed
  }
}

extension NotificationQuery {
  fileprivate static func random(using random: inout SeededRandom) -> NotificationQuery {
    func maybe<Value>(_ values: [Value]) -> Value? {
      Bool.random(using: &random) ? values.randomElement(using: &random) : nil
    }
    return NotificationQuery(
      bundleID: maybe([readerScope.bundleID, "com.example.other"]),
      environment: maybe([.production, .sandbox]), type: maybe(StoreConformanceSuite.types),
      since: maybe([0, 1_000, 5_000, 12_000, 1_000_000]),
      limit: .random(in: 1...70, using: &random),
      scanLimit: [2, 13, 1_000].randomElement(using: &random) ?? 13)
  }

  /// What the query means, without pages.
  fileprivate func asksFor(_ notification: ListedNotification) -> Bool {
    let record = notification.received.record
    return (bundleID == nil || record.scope?.bundleID == bundleID)
      && (environment == nil || record.scope?.environment == environment)
      && (type == nil || record.type == type)
      && (since.map { notification.received.receivedAt >= $0 } ?? true)
  }
}
