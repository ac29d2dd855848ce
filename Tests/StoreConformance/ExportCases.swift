import EntitlementDomain
import EntitlementStore

// All stored data of one account, as for a data access request (R46).
extension StoreConformanceSuite {
  static let exportCases = [
    ConformanceCase("An export has all stored data of an account, and nothing else") {
      store, _ in
      let facts = [
        try TransactionSample("1", "1").with { $0.token = token(2) }.signed(),
        try RenewalSample("1").signed(),
        try TransactionSample("2", "2").with { $0.token = token(1) }.signedByReceipt(),
        try AppTransactionSample("900").signed(),
      ]
      try await store.submit(facts, by: "alice", at: 5_000)
      try await store.submit(TransactionSample("9", "9"), by: "anonymous:1", at: 5_500)
      let claimed = try TransactionSample("9", "9").signed()
      try await store.submit([claimed], by: "alice", anonymous: "anonymous:1", at: 6_000)
      _ = try await store.addGrant(sampleGrant(2) { $0.createdAt = 6_500 })
      _ = try await store.addGrant(sampleGrant(1) { $0.createdAt = 6_400 })
      let withdrawal = GrantWithdrawal(
        at: 7_000, author: "olive", onBehalfOf: "ada", reason: "a mistake")
      _ = try await store.withdrawGrant(grantID(1), in: readerScope, withdrawal)
      let notifications = [
        notification(2, "DID_RENEW"), notification(1, "DID_CHANGE_RENEWAL_PREF"),
      ]
      for (number, notification) in notifications.enumerated() {
        try await store.submit(
          [facts[number]], notification: notification, at: Milliseconds(7_500 + Int64(number)))
      }
      try await fillWithOthers(store)

      let export = try unwrap(try await store.export("alice", in: readerScope), "export")
      let alice = try await store.customer(.account("alice")).record
      try expectEqual(export.accountID, "alice")
      try expectEqual(export.revision, alice.revision)
      try expectEqual(export.changedAt, 7_000)
      try expectEqual(export.merged, ["anonymous:1"])
      try expectEqual(export.tokens.map(\.token), [token(1), token(2)])
      try expectEqual(Set(export.facts), Set(facts + [claimed]), "facts")
      try expectEqual(export.facts.count, 5)
      try expectEqual(
        export.grants,
        [
          sampleGrant(1) {
            $0.createdAt = 6_400; $0.withdrawal = withdrawal
          },
          sampleGrant(2) { $0.createdAt = 6_500 },
        ])
      try expectEqual(export.links, try await store.links(of: "alice", in: readerScope))
      try expectEqual(
        export.links.map(\.target),
        [.chain("1"), .chain("2"), .chain("9"), .appTransaction("900")])
      try expectEqual(
        export.linkEvents, try await store.linkHistory(of: "alice", in: readerScope))
      try expectEqual(
        Set(export.linkEvents.map(\.event.reason)), [.named, .merged], "reasons")
      try expectEqual(
        export.notifications,
        [
          ReceivedNotification(notification: notifications[0], receivedAt: 7_500),
          ReceivedNotification(notification: notifications[1], receivedAt: 7_501),
        ])
      let history = AccountHistory(
        accountID: "alice", linkEvents: export.linkEvents, grants: export.grants,
        notifications: [
          ReceivedRecord(record: notifications[0].record, receivedAt: 7_500),
          ReceivedRecord(record: notifications[1].record, receivedAt: 7_501),
        ])
      try expectEqual(try await store.history(of: "alice", in: readerScope), history)
      try expectEqual(
        try await store.history(of: "anonymous:1", in: readerScope), history, "by a former name")
    },

    ConformanceCase("An export of an unknown account is empty") {
      store, _ in
      try await fillWithOthers(store)
      try expectEqual(try await store.export("alice", in: readerScope), nil)
      let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      try expectEqual(try await store.export("bob", in: sandbox), nil)
    },

    ConformanceCase("An unknown or deleted account has no history") {
      store, _ in
      try await fillWithOthers(store)
      try expectEqual(try await store.history(of: "alice", in: readerScope), nil)
      let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      try expectEqual(try await store.history(of: "bob", in: sandbox), nil)
      try await store.done(.delete("bob"))
      try expectEqual(try await store.history(of: "bob", in: readerScope), nil)
      try expectEqual(try await store.export("bob", in: readerScope), nil)
    },

    ConformanceCase("A history has every known field of a notification") {
      store, _ in
      let told = notification(1, "CONSUMPTION_REQUEST", status: 5) {
        $0.subtype = "VOLUNTARY"; $0.signedDate = nil
      }
      try await store.submit(
        [TransactionSample("1", "1").signed()], by: "alice", notification: told, at: 7_000)
      let history = try unwrap(
        try await store.history(of: "alice", in: readerScope), "history")
      try expectEqual(
        history.notifications, [ReceivedRecord(record: told.record, receivedAt: 7_000)])
      try expectEqual(history.linkEvents.map(\.target), [.chain("1")])
      try expectEqual(history.grants, [])
    },

    ConformanceCase("The export of an account without links includes its former links") {
      store, _ in
      try await store.submit(
        TransactionSample("1", "1").with { $0.token = token(1) }, by: "alice", at: 5_000)
      try await store.done(.transfer(.chain("1"), from: "alice", to: "bob"), at: 6_000)
      let export = try unwrap(try await store.export("alice", in: readerScope), "export")
      try expectEqual(export.facts, [])
      try expectEqual(export.links, [])
      try expectEqual(export.changedAt, 6_000)
      try expectEqual(export.tokens.map(\.token), [token(1)])
      try expectEqual(export.linkEvents.map(\.event.reason), [.named, .transferred])
    },
  ]

  /// Bob, and an unlinked chain, with a notification each.
  private static func fillWithOthers(_ store: any EntitlementStore) async throws {
    let bobs = try TransactionSample("70", "70").with { $0.token = token(7) }.signed()
    try await store.submit([bobs], by: "bob", notification: notification(7, "SUBSCRIBED"))
    _ = try await store.addGrant(sampleGrant(7) { $0.accountID = "bob" })
    try await store.submit(
      [TransactionSample("80", "80").signed()], notification: notification(8, "SUBSCRIBED"))
    try await store.submit([], notification: notification(9, "TEST"))
  }
}
