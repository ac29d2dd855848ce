import EntitlementDomain
import EntitlementStore

// Grants by operators (R32).
extension StoreConformanceSuite {
  static let grantCases = [
    ConformanceCase("A grant is stored with all its fields, and creates its account") { store, _ in
      let grant = sampleGrant(1) {
        $0.expires = 9_000; $0.reason = "„Entschuldigung“ \\x41 für Zoë"; $0.onBehalfOf = nil
      }
      let receipt = try await store.give(grant)
      try expectEqual(receipt.grant, grant)
      try expectEqual(receipt.isChanged, true)
      try expectEqual(receipt.customer.subject, account("alice"))
      try expect(receipt.customer.revision > 0, "the revision is \(receipt.customer.revision)")

      try expectEqual(try await store.grants(of: "alice", in: readerScope), [grant])
      let alice = try await store.customer(.account("alice"))
      try expectEqual(alice.record.grants, [grant])
      try expectEqual(alice.record.facts, [])
      try expectEqual(alice.record.revision, receipt.customer.revision)
      try expectEqual(alice.record.changedAt, grant.createdAt)
      try expectEqual(alice.subject, account("alice"))
      try expectEqual(
        try await store.accounts(in: readerScope, after: nil, limit: 9),
        [
          AccountSummary(
            accountID: "alice", revision: receipt.customer.revision, chainCount: 0,
            updatedAt: grant.createdAt)
        ])
    },

    ConformanceCase("A grant with a known id leaves the stored grant unchanged") { store, _ in
      let grant = sampleGrant(1)
      let first = try await store.give(grant)
      let feed = try await store.feed()
      let others = [
        grant,
        sampleGrant(1) {
          $0.entitlementID = "premium"; $0.expires = 1; $0.reason = "another"
        },
        sampleGrant(1) { $0.accountID = "bob" },
      ]
      for other in others {
        let again = try await store.give(other)
        try expectEqual(
          again, GrantReceipt(grant: grant, customer: first.customer, isChanged: false))
      }
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.grants(of: "bob", in: readerScope), [])
      try expectEqual(try await store.grants(of: "alice", in: readerScope), [grant])
      try expectEqual(
        try await store.accounts(in: readerScope, after: nil, limit: 9).map(\.accountID), ["alice"])
    },

    ConformanceCase("A grant is withdrawn once, and kept with the author and the reason") {
      store, _ in
      let grant = sampleGrant(1)
      let added = try await store.give(grant)
      let withdrawal = GrantWithdrawal(
        at: 7_000, author: "olive", onBehalfOf: "ada", reason: "a mistake")
      var withdrawn = grant
      withdrawn.withdrawal = withdrawal
      let receipt = try unwrap(
        try await store.withdrawGrant(grant.id, in: readerScope, withdrawal), "receipt")
      try expectEqual(receipt.grant, withdrawn)
      try expectEqual(receipt.isChanged, true)
      try expect(receipt.customer.revision > added.customer.revision, "the revision did not grow")
      let alice = try await store.customer(.account("alice"))
      try expectEqual(alice.record.grants, [withdrawn])
      try expectEqual(alice.record.revision, receipt.customer.revision)
      try expectEqual(alice.record.changedAt, 7_000)

      let feed = try await store.feed()
      let again = try await store.withdrawGrant(
        grant.id, in: readerScope, GrantWithdrawal(at: 8_000, author: "otto", reason: "again"))
      try expectEqual(
        again, GrantReceipt(grant: withdrawn, customer: receipt.customer, isChanged: false))
      // Adding it again does not bring it back.
      try expectEqual(try await store.give(grant).grant, withdrawn)
      try expectEqual(try await store.feed(), feed)
      try expectEqual(try await store.grants(of: "alice", in: readerScope), [withdrawn])
    },

    ConformanceCase("An unknown grant cannot be withdrawn") { store, _ in
      let withdrawal = GrantWithdrawal(at: 7_000, author: "olive", reason: "a mistake")
      try expectEqual(
        try await store.withdrawGrant(grantID(1), in: readerScope, withdrawal), nil)
      try await store.give(sampleGrant(1))
      try expectEqual(
        try await store.withdrawGrant(grantID(2), in: readerScope, withdrawal), nil)
      let other = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      try expectEqual(try await store.withdrawGrant(grantID(1), in: other, withdrawal), nil)
      try expectEqual(
        try await store.grants(of: "alice", in: readerScope), [sampleGrant(1)])
    },

    ConformanceCase("Grants are listed oldest first, then by id, including withdrawn ones") {
      store, _ in
      let moments: [(number: Int, createdAt: Milliseconds)] = [
        (4, 30), (2, 20), (3, 20), (1, 40), (5, 10),
      ]
      for (number, createdAt) in moments {
        try await store.give(sampleGrant(number) { $0.createdAt = createdAt })
      }
      try await store.give(sampleGrant(6) { $0.accountID = "bob" })
      try await store.withdraw(2, at: 50)
      let grants = try await store.grants(of: "alice", in: readerScope)
      try expectEqual(grants.map(\.id), [5, 2, 3, 4, 1].map { grantID($0) })
      try expectEqual(grants.map { $0.withdrawal != nil }, [false, true, false, false, false])
      try expectEqual(
        Set(try await store.customer(.account("alice")).record.grants), Set(grants))
      try expectEqual(try await store.grants(of: "nobody", in: readerScope), [])
    },

    ConformanceCase("Grants and purchases are independent") { store, _ in
      let sample = TransactionSample("1", "1").with { $0.token = token(1) }
      try await store.submit(sample, by: "alice")
      let facts = try await store.customer(.account("alice")).record.facts
      let grant = sampleGrant(1)
      try await store.give(grant)
      let selectors: [CustomerSelector] = [
        .account("alice"), .originalTransaction("1"), .transaction("1"),
        .appAccountToken(token(1)),
      ]
      for selector in selectors {
        let customer = try await store.customer(selector)
        try expectEqual(customer.record.facts, facts, "\(selector)")
        try expectEqual(customer.record.grants, [grant], "\(selector)")
      }
      try await store.withdraw(1)
      try expectEqual(try await store.customer(.account("alice")).record.facts, facts)
      try expectEqual(try await store.linkHistory(of: .chain("1"), in: readerScope).count, 1)

      // A grant stays when a chain moves to another account.
      try await store.submit(sample, by: "bob")
      try expectEqual(
        try await store.customer(.account("alice")).record.grants.map(\.id), [grant.id])
      try expectEqual(try await store.customer(.account("bob")).record.grants, [])
      try await store.submit(TransactionSample("2", "2"))
      try expectEqual(try await store.customer(.originalTransaction("2")).record.grants, [])
    },

    ConformanceCase("The feed has each grant and each withdrawal") { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      let added = try await store.give(sampleGrant(1))
      let withdrawn = try await store.withdraw(1)
      let told = try await store.feed().suffix(2)
      try expectEqual(
        Array(told),
        [
          Change(
            sequence: added.customer.revision, scope: readerScope, subject: account("alice"),
            kinds: .grants, committedAt: 6_000),
          Change(
            sequence: withdrawn?.customer.revision ?? 0, scope: readerScope,
            subject: account("alice"), kinds: .grants, committedAt: 7_000),
        ])
    },

    ConformanceCase("One grant id in several scopes is several grants (R9)") { store, _ in
      let scopes = StoreEnvironment.allCases.map {
        AppScope(bundleID: readerScope.bundleID, environment: $0)
      }
      for (number, scope) in scopes.enumerated() {
        let receipt = try await store.give(
          sampleGrant(1) {
            $0.scope = scope; $0.reason = "number \(number)"
          })
        try expectEqual(receipt.isChanged, true)
      }
      try await store.withdraw(1, in: scopes[1])
      for (number, scope) in scopes.enumerated() {
        let grants = try await store.grants(of: "alice", in: scope)
        try expectEqual(grants.map(\.reason), ["number \(number)"])
        try expectEqual(grants.map(\.scope), [scope])
        try expectEqual(grants.map { $0.withdrawal != nil }, [number == 1])
        try expectEqual(
          try await store.customer(.account("alice"), in: scope).record.grants, grants)
      }
    },

    ConformanceCase("Grants and withdrawals are there after the database is reopened") {
      store, harness in
      try await store.give(sampleGrant(1) { $0.expires = 9_000 })
      try await store.give(sampleGrant(2))
      try await store.withdraw(2)
      let grants = try await store.grants(of: "alice", in: readerScope)
      let reopened = try await harness.reopen(store)
      try expectEqual(try await reopened.grants(of: "alice", in: readerScope), grants)
      await reopened.close()
    },

    ConformanceCase("Of many concurrent additions of one grant, one takes effect") { store, _ in
      let receipts = try await withThrowingTaskGroup(of: GrantReceipt.self) { group in
        for number in 0..<64 {
          group.addTask {
            try await store.give(sampleGrant(1) { $0.accountID = AccountID("a-\(number)") })
          }
          group.addTask {
            try await store.submit(TransactionSample("\(number)", "\(number)"), by: "alice")
            return try await store.give(sampleGrant(2))
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try expectEqual(receipts.count { $0.isChanged }, 2, "grants given")
      try expectEqual(
        Set(receipts.filter { $0.grant.id == grantID(1) }.map(\.grant)).count, 1, "first grant")
      let feed = try await store.feed()
      try expectEqual(feed.count { $0.kinds == .grants }, 2, "changes")
      try expectEqual(feed.map(\.sequence), feed.map(\.sequence).sorted(), "order of the feed")
    },

    ConformanceCase("A grant that cannot be stored changes nothing") { store, _ in
      // No store accepts a NUL.
      do {
        try await store.give(sampleGrant(1) { $0.author = "o\u{0}live" })
        throw ConformanceFailure("the grant was stored", file: #fileID, line: #line)
      } catch is StoreError {}
      try expectEqual(try await store.accounts(in: readerScope, after: nil, limit: 9), [])
      try expectEqual(try await store.feed(), [])
      let revision = try await store.give(sampleGrant(1)).customer.revision
      try expectEqual(try await store.feed().map(\.sequence), [revision])
    },

    ConformanceCase("A closed store refuses grants and withdrawals") { store, _ in
      try await store.give(sampleGrant(1))
      await store.close()
      try await expectError(.closed) { try await store.give(sampleGrant(2)) }
      try await expectError(.closed) {
        try await store.withdraw(1)
      }
      try await expectError(.closed) { _ = try await store.grants(of: "alice", in: readerScope) }
    },
  ]
}

extension EntitlementStore {
  @discardableResult
  fileprivate func give(_ grant: Grant) async throws -> GrantReceipt {
    try await addGrant(grant)
  }

  /// Withdraws the `number`th grant.
  @discardableResult
  fileprivate func withdraw(
    _ number: Int, in scope: AppScope = readerScope, at: Milliseconds = 7_000
  ) async throws -> GrantReceipt? {
    try await withdrawGrant(
      grantID(number), in: scope, GrantWithdrawal(at: at, author: "olive", reason: "a mistake"))
  }
}
