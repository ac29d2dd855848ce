import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let durabilityCases = [
    ConformanceCase("All data is kept when the database is reopened") { store, harness in
      let facts = [
        try TransactionSample("1", "1").with {
          $0.token = token(1); $0.appTransaction = "900"
        }
        .signed(),
        try RenewalSample("1").signed(), try AppTransactionSample("900").signed(),
      ]
      try await store.submit(facts, by: "alice")
      try await store.submit(TransactionSample("1", "1"), by: "bob")
      let alice = try await store.customer(.account("alice"))
      let bob = try await store.customer(.account("bob"))
      let feed = try await store.feed()
      let history = try await store.linkHistory(of: .chain("1"), in: readerScope)

      let reopened = try await harness.reopen(store)
      try await expectSame(reopened.customer(.account("alice")), alice)
      try await expectSame(reopened.customer(.account("bob")), bob)
      try expectEqual(try await reopened.feed(), feed)
      try expectEqual(try await reopened.linkHistory(of: .chain("1"), in: readerScope), history)
      // Learned hints are kept, and numbers continue.
      let receipt = try await reopened.submit(
        TransactionSample("2", "2").with { $0.token = token(1) })
      try expectEqual(receipt.changed, [account("alice")])
      try expect(
        (receipt.customers.first?.revision ?? 0) > (feed.last?.sequence ?? 0),
        "a revision was used twice")
      await reopened.close()
    },

    ConformanceCase("A closed store answers nothing, and can be closed twice") { store, _ in
      try await store.submit(TransactionSample("1", "1"))
      try await store.checkHealth()
      await store.close()
      await store.close()
      try await expectError(.closed) { try await store.submit(TransactionSample("2", "2")) }
      try await expectError(.closed) { _ = try await store.customer(.account("alice")) }
      try await expectError(.closed) { try await store.checkHealth() }
    },

    ConformanceCase("Commits in flight are finished before the store closes") { store, harness in
      let answered = await withTaskGroup(of: String?.self) { group in
        for number in 0..<50 {
          group.addTask {
            let receipt = try? await store.submit(TransactionSample("\(number)", "\(number)"))
            return receipt.map { _ in "\(number)" }
          }
        }
        group.addTask {
          await store.close()
          return nil
        }
        return await group.reduce(into: Set<String>()) { set, number in
          if let number { set.insert(number) }
        }
      }
      let reopened = try await harness.open()
      let stored = try await reopened.feed().compactMap(\.subject)
      try expectEqual(
        Set(stored), Set(answered.map { unlinked(OriginalTransactionID($0)) }), "stored")
      await reopened.close()
    },

    ConformanceCase("A submission is stored whole or not at all") { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      let feed = try await store.feed()
      // No store accepts a NUL in an identifier: the third fact fails, and with it the whole
      // submission.
      var bad = try TransactionSample("4", "4").signed()
      if case .transaction(var fact) = bad.fact {
        fact.transactionID = "4\u{0}5"
        bad.fact = .transaction(fact)
      }
      let record = NotificationRecord(
        uuid: "0b6f2c1e-5f0a-4c1d-8a57-3d1d6f9a0009", type: "DID_RENEW",
        digest: bad.fact.digest)
      let facts = [
        try TransactionSample("1", "1").with { $0.signedAt = 2_000 }.signed(),
        try TransactionSample("3", "3").signed(), bad,
      ]
      do {
        try await store.submit(
          facts, by: "bob", notification: SignedNotification(record: record, signed: bad.signed))
        throw ConformanceFailure("the submission was stored", file: #fileID, line: #line)
      } catch is StoreError {}
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.account(of: "1"), "alice")
      try expectEqual(try await store.customer(.transaction("3")).record.facts, [])
      try expectEqual(try await store.notification(record.uuid), nil)
      try expectEqual(
        try await store.accounts(in: readerScope, after: nil, limit: 9).map(\.accountID), ["alice"])
      let receipt = try await store.submit(TransactionSample("5", "5"))
      let now = try await store.feed()
      try expectEqual(Array(now.dropLast()), feed, "the feed before")
      try expectEqual(now.suffix(1).map(\.sequence), receipt.customers.map(\.revision))
    },
  ]

  private static func expectSame(_ customer: StoredCustomer, _ expected: StoredCustomer) throws {
    try expectEqual(Set(customer.record.facts), Set(expected.record.facts), "facts")
    try expectEqual(customer.record.revision, expected.record.revision, "revision")
    try expectEqual(customer.subject, expected.subject, "subject")
  }
}
