import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let recordCases = [
    ConformanceCase("Signed bytes are returned unchanged") { store, _ in
      let facts = [
        try TransactionSample("1", "1").signed(), try RenewalSample("1").signed(),
        try AppTransactionSample("900").signed(), try AppTransactionSample(nil).signed(),
      ]
      try await store.submit(facts)
      for fact in facts {
        try expectEqual(try await store.signedFact(fact.fact.key, in: readerScope), fact)
      }
      let unknown = FactKey(kind: .renewalInfo, identifier: "900")
      try expectEqual(try await store.signedFact(unknown, in: readerScope), nil)
    },

    ConformanceCase("The proof of the standing version is stored") { store, _ in
      let first = try TransactionSample("1", "1").signed()
      let second = try TransactionSample("1", "1").with { $0.signedAt = 2_000 }.signed()
      try await store.submit([second])
      try await store.submit([first])
      try expectEqual(try await store.signedFact(first.fact.key, in: readerScope), second)
    },

    ConformanceCase("Facts of several signers keep their own headers") { store, _ in
      var facts: [SignedFact] = []
      for number in 0..<6 {
        var fact = try TransactionSample("\(number)", "1").signed()
        fact.signed.proof = .jws(
          header: Array("eyJraWQiOiI\(number % 2)In0".utf8),
          signature: [UInt8](repeating: UInt8(number), count: 64))
        facts.append(fact)
      }
      try await store.submit(facts)
      for fact in facts {
        try expectEqual(try await store.signedFact(fact.fact.key, in: readerScope), fact)
      }
    },

    ConformanceCase("A notification is stored once, by its UUID, with its signed payload") {
      store, _ in
      let uuid: NotificationUUID = "0b6f2c1e-5f0a-4c1d-8a57-3d1d6f9a0001"
      let full = notification(uuid) { record in
        record.subtype = "INITIAL_BUY"
        record.scope = readerScope
        record.status = 1
        record.signedDate = 4_000
      }
      let first = try await store.submit(
        [TransactionSample("1", "1").signed()], notification: full)
      try expectEqual(first.notificationWasKnown, false)
      let again = try await store.submit(
        [TransactionSample("1", "1").signed()], notification: full)
      try expectEqual(again.notificationWasKnown, true)
      try expectEqual(again.dispositions, [.duplicate])
      try expectEqual(again.changed, [])
      // Apple signs a retry again; the first record is kept, and the facts of the retry are merged.
      let retry = try await store.submit(
        [TransactionSample("1", "1").with { $0.signedAt = 2_000 }.signed()],
        notification: notification(uuid) { $0.signedDate = 9_000 })
      try expectEqual(retry.notificationWasKnown, true)
      try expectEqual(retry.dispositions, [.replaced])
      try expectEqual(try await store.notification(uuid), full)
      try expectEqual(
        try await store.notification("0b6f2c1e-5f0a-4c1d-8a57-3d1d6f9a0002"), nil)
    },

    ConformanceCase("A notification without facts is stored and changes no customer") { store, _ in
      let bare = notification("0b6f2c1e-5f0a-4c1d-8a57-3d1d6f9a0003") { _ in }
      let receipt = try await store.submit([], notification: bare)
      try expectEqual(receipt.customers, [])
      try expectEqual(try await store.notification(bare.record.uuid), bare)
      try expectEqual(try await store.feed(), [])
    },
  ]

  private static func notification(
    _ uuid: NotificationUUID, _ change: (inout NotificationRecord) -> Void
  ) -> SignedNotification {
    let payload = Array("{\"notificationUUID\":\"\(uuid)\",\"signedDate\":0}".utf8)
    var record = NotificationRecord(
      uuid: uuid, type: "SUBSCRIBED", digest: PayloadSample.digest(of: payload))
    change(&record)
    return SignedNotification(record: record, signed: PayloadSample.signedPayload(payload))
  }
}
