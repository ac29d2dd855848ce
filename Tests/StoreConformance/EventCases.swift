import EntitlementDomain
import EntitlementStore

// The events of notifications go to the feed (R47), once, with the customer that they concern.
extension StoreConformanceSuite {
  static let eventCases = [
    ConformanceCase("Events come with the change of the account that the chain is linked to") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      let refund = TransactionSample("1", "1").with {
        $0.signedAt = 2_000; $0.isRevoked = true
      }
      let receipt = try await store.submit(
        [refund.signed()], notification: notification(1, "REFUND"), at: 7_000)
      try expectEqual(receipt.events.map(\.kind), [.refunded])
      try expectEqual(receipt.changed, [account("alice")])
      let revision = try await store.customer(.account("alice")).record.revision
      try expectEqual(
        try await store.feed().last,
        Change(
          sequence: revision, scope: readerScope, subject: account("alice"),
          kinds: [.facts, .events],
          events: [
            FeedEvent(
              kind: .refunded, notificationUUID: uuid(1), originalTransactionID: "1",
              transactionID: "1")
          ], committedAt: 7_000))
    },

    ConformanceCase("A change with events only is reported and moves no revision") { store, _ in
      for account: AccountID? in ["alice", nil] {
        let id = account == nil ? "2" : "1"
        let sample = TransactionSample(id, id)
        try await store.submit(sample, by: account)
        let before = try await store.customer(.originalTransaction(sample.chain))
        let feed = try await store.feed()
        let receipt = try await store.submit(
          [sample.signed()], notification: notification(Int(id) ?? 0, "CONSUMPTION_REQUEST"))
        try expectEqual(receipt.events.map(\.kind), [.consumptionRequested])
        try expect(receipt.events[0].deadline != nil, "there is no deadline")
        try expectEqual(receipt.changed, [])
        try expectEqual(
          receipt.customers.map(\.revision), [before.record.revision], "revision told")
        try expectEqual(
          try await store.customer(.originalTransaction(sample.chain)), before, "customer")
        let told = try await store.feed()
        try expectEqual(Array(told.dropLast()), feed)
        try expectEqual(told.last?.subject, before.subject)
        try expectEqual(told.last?.kinds, .events)
        try expectEqual(told.last?.events, receipt.events)
      }
    },

    ConformanceCase("Events about an unlinked chain are reported for that chain") {
      store, _ in
      let receipt = try await store.submit(
        [TransactionSample("1", "1").with { $0.isRevoked = true }.signed()],
        notification: notification(1, "REFUND"))
      try expectEqual(receipt.events.map(\.kind), [.refunded])
      let change = try unwrap(try await store.feed().last, "change")
      try expectEqual(change.subject, unlinked("1"))
      try expectEqual(change.kinds, [.facts, .events])
      try expectEqual(change.events, receipt.events)
    },

    ConformanceCase(
      "If the notification links its chain, its events are reported for the account"
    ) { store, _ in
      try await store.submit(TransactionSample("1", "1"))
      try await store.submit(
        TransactionSample("9", "9").with { $0.token = token(1) }, by: "alice")
      let receipt = try await store.submit(
        [TransactionSample("2", "1").with { $0.token = token(1) }.signed()],
        notification: notification(1, "REFUND_DECLINED"))
      try expectEqual(receipt.events.map(\.kind), [.refundDeclined])
      let told = try await store.feed().filter { !$0.events.isEmpty }
      try expectEqual(told.map(\.subject), [account("alice")])
      try expectEqual(told.map(\.kinds), [[.facts, .linked, .events]])
    },

    ConformanceCase("Without a chain, events go to the account of the app transaction") {
      store, _ in
      try await store.submit([AppTransactionSample("900").signed()], by: "alice")
      let known = try await store.submit(
        [AppTransactionSample("900").signed()], notification: notification(1, "RESCIND_CONSENT"))
      try expectEqual(known.events.map(\.kind), [.consentRescinded])
      let unknown = try await store.submit(
        [AppTransactionSample("901").signed()], notification: notification(2, "RESCIND_CONSENT"))
      try expectEqual(unknown.events.map(\.kind), [.consentRescinded])
      let told = try await store.feed().suffix(2)
      try expectEqual(told.map(\.subject), [account("alice"), nil])
      try expectEqual(told.map(\.kinds), [.events, .events])
      try expectEqual(told.map(\.events), [known.events, unknown.events])
    },

    ConformanceCase("Events about no known customer are reported for their app") { store, _ in
      let sandbox = AppScope(bundleID: "com.example.other", environment: .sandbox)
      let receipt = try await store.submit(
        [], notification: notification(1, "RESCIND_CONSENT", scope: sandbox), at: 7_000)
      try expectEqual(receipt.customers, [])
      try expectEqual(receipt.changed, [])
      let feed = try await store.feed()
      try expectEqual(receipt.latest, feed.last?.sequence, "latest")
      try expectEqual(
        feed,
        [
          Change(
            sequence: feed.first?.sequence ?? 0, scope: sandbox, subject: nil, kinds: .events,
            events: receipt.events, committedAt: 7_000)
        ])
      try expectEqual(receipt.events.map(\.kind), [.consentRescinded])
    },

    ConformanceCase("A notification without an app is stored and has no events") { store, _ in
      let bare = notification(1, "RESCIND_CONSENT", scope: nil)
      let receipt = try await store.submit([], notification: bare)
      try expectEqual(receipt.events, [])
      try expectEqual(try await store.feed(), [])
      try expectEqual(try await store.notification(uuid(1)), bare)
    },

    ConformanceCase("A repeated notification has no events again") { store, _ in
      let facts = [try TransactionSample("1", "1").signed()]
      let request = notification(1, "CONSUMPTION_REQUEST")
      try expectEqual(try await store.submit(facts, notification: request).events.count, 1)
      let feed = try await store.feed()
      for _ in 0..<2 {
        let again = try await store.submit(facts, notification: request)
        try expectEqual(again.notificationWasKnown, true)
        try expectEqual(again.events, [])
      }
      try expectEqual(try await store.feed(), feed)
      // New facts of a retry are still merged.
      let retry = try await store.submit(
        [TransactionSample("1", "1").with { $0.signedAt = 2_000 }.signed()],
        notification: request)
      try expectEqual(retry.events, [])
      try expectEqual(try await store.feed().last?.kinds, .facts)
    },

    ConformanceCase("Many events are reported in order, also after the database is reopened") {
      store, harness in
      let upgraded = TransactionSample("1", "1").with { $0.isUpgraded = true }
      let receipt = try await store.submit(
        [upgraded.signed()],
        notification: notification(1, "DID_CHANGE_RENEWAL_PREF", status: 2) {
          $0.subtype = "UPGRADE"
        }, under: PolicySample.catalog(nil))
      try expect(receipt.events.count > 1, "there are \(receipt.events.count) events")
      try expect(
        receipt.events.contains { $0.refetchReason == .successorMissing },
        "no event for the missing successor in \(receipt.events)")
      try expect(receipt.events.contains { $0.detail != nil }, "no event has a detail")
      try expectEqual(try await store.feed().map(\.events), [receipt.events])
      let reopened = try await harness.reopen(store)
      try expectEqual(try await reopened.feed().map(\.events), [receipt.events])
      await reopened.close()
    },

    ConformanceCase("A notification is reviewed with all known facts of its chain (R47)") {
      store, _ in
      let catalog = PolicySample.catalog(nil)
      // Active by earlier facts; the notification itself only brings an older period.
      try await store.submit(TransactionSample("1", "1"), under: catalog)
      let renewal = try RenewalSample("1").signed()
      for (number, status) in [Int64(1), 2].enumerated() {
        let receipt = try await store.submit(
          [renewal],
          notification: notification(number, "DID_CHANGE_RENEWAL_STATUS", status: status) {
            $0.subtype = "AUTO_RENEW_ENABLED"
          }, under: catalog)
        let mismatches = receipt.events.filter { $0.refetchReason == .statusMismatch }
        try expectEqual(mismatches.count, status == 1 ? 0 : 1, "mismatches of status \(status)")
      }
    },

    ConformanceCase("Events are stored together with their notification, or not at all") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      let feed = try await store.feed()
      // No store accepts a NUL in an identifier: the second fact fails, and with it the whole
      // submission.
      var bad = try TransactionSample("4", "4").signed()
      if case .transaction(var fact) = bad.fact {
        fact.transactionID = "4\u{0}5"
        bad.fact = .transaction(fact)
      }
      let request = notification(1, "CONSUMPTION_REQUEST")
      do {
        try await store.submit(
          [TransactionSample("1", "1").signed(), bad], notification: request)
        throw ConformanceFailure("the submission was stored", file: #fileID, line: #line)
      } catch is StoreError {}
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.notification(uuid(1)), nil)
      let receipt = try await store.submit(
        [TransactionSample("1", "1").signed()], notification: request)
      try expectEqual(receipt.notificationWasKnown, false)
      try expectEqual(receipt.events.count, 1)
    },

    ConformanceCase("A notification that comes many times at once has its events once") {
      store, _ in
      let facts = [try TransactionSample("1", "1").signed()]
      let receipts = try await withThrowingTaskGroup(of: CommitReceipt.self) { group in
        for _ in 0..<32 {
          group.addTask {
            try await store.submit(facts, notification: notification(1, "CONSUMPTION_REQUEST"))
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try expectEqual(receipts.count { !$0.notificationWasKnown }, 1, "first deliveries")
      try expectEqual(receipts.flatMap(\.events).count, 1, "events answered")
      try expectEqual(try await store.feed().flatMap(\.events).count, 1, "events told")
    },
  ]
}
