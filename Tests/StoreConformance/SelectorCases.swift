import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let selectorCases = [
    ConformanceCase("A customer without facts is unknown (R27)") { store, _ in
      try await store.submit(TransactionSample("1", "10"), by: "alice")
      let selectors: [CustomerSelector] = [
        .account("bob"), .originalTransaction("99"), .transaction("99"), .appTransaction("99"),
        .appAccountToken(token(99)),
      ]
      for selector in selectors {
        let customer = try await store.customer(selector)
        try expectEqual(customer.record.facts, [], "\(selector)")
        try expectEqual(customer.record.revision, 0, "\(selector)")
        try expectEqual(customer.record.scope, readerScope, "\(selector)")
      }
      // The answer for an account depends on that account only; the others change with any first
      // fact.
      let bob = try await store.customer(.account("bob"))
      try expectEqual(bob.record.accountID, "bob")
      try expectEqual(bob.subject, account("bob"))
      for selector in selectors.dropFirst() {
        let customer = try await store.customer(selector)
        try expectEqual(customer.record.accountID, nil)
        try expectEqual(customer.subject, nil, "\(selector)")
      }
    },

    ConformanceCase("Every selector finds the account with all its facts") { store, _ in
      try await store.submit(
        [
          TransactionSample("1", "10").with {
            $0.token = token(1); $0.appTransaction = "900"
          }
          .signed(),
          TransactionSample("2", "10").signed(), RenewalSample("10").signed(),
          TransactionSample("3", "30").signed(), AppTransactionSample("900").signed(),
        ], by: "alice")
      try await store.submit(TransactionSample("4", "40"), by: "bob")
      let alice = try await store.customer(.account("alice"))
      try expectEqual(
        alice.factKeys,
        ["appTransaction/900", "renewalInfo/10", "transaction/1", "transaction/2", "transaction/3"])
      try expectEqual(alice.record.accountID, "alice")
      try expectEqual(alice.subject, account("alice"))
      try expect(alice.record.revision > 0, "the revision is \(alice.record.revision)")
      let selectors: [CustomerSelector] = [
        .originalTransaction("10"), .originalTransaction("30"), .transaction("1"),
        .transaction("3"), .appTransaction("900"), .appAccountToken(token(1)),
      ]
      for selector in selectors {
        let customer = try await store.customer(selector)
        try expectEqual(customer.factKeys, alice.factKeys, "\(selector)")
        try expectEqual(customer.record.accountID, "alice", "\(selector)")
        try expectEqual(customer.record.revision, alice.record.revision, "\(selector)")
        try expectEqual(customer.subject, account("alice"), "\(selector)")
      }
    },

    ConformanceCase("A batch returns the same customers as single reads") { store, _ in
      try await fillAlice(store)
      try await store.submit(TransactionSample("2", "2"), by: "bob")
      try await store.submit(TransactionSample("3", "3"), by: "carol")
      try await store.submit(TransactionSample("4", "4"))
      try await store.done(.merge("alice", into: "bob"))
      let selectors: [CustomerSelector] = [
        .account("nobody"), .account("alice"), .account("carol"), .originalTransaction("4"),
        .account("bob"), .transaction("3"), .appTransaction("900"), .account("carol"),
        .originalTransaction("99"), .appAccountToken(token(7)),
      ]
      let customers = try await store.customers(selectors, in: readerScope, .primary)
      try expectEqual(customers.count, selectors.count)
      for (selector, customer) in zip(selectors, customers) {
        let alone = try await store.customer(selector)
        try expectEqual(customer.record, alone.record, "\(selector)")
        try expectEqual(customer.subject, alone.subject, "\(selector)")
      }
      let elsewhere = AppScope(bundleID: "com.example.unheard", environment: .production)
      let unknown = try await store.customers(selectors, in: elsewhere, .primary)
      try expectEqual(unknown.map(\.record.revision), selectors.map { _ in 0 }, "elsewhere")
      try expectEqual(try await store.customers([], in: readerScope, .primary).count, 0)
    },

    ConformanceCase("An unlinked chain is found by its id and by its transactions") {
      store, _ in
      try await store.submit([
        TransactionSample("1", "10").with { $0.appTransaction = "900" }.signed(),
        RenewalSample("10").signed(),
        TransactionSample("3", "30").with { $0.appTransaction = "900" }.signed(),
      ])
      for selector: CustomerSelector in [.originalTransaction("10"), .transaction("1")] {
        let customer = try await store.customer(selector)
        try expectEqual(customer.factKeys, ["renewalInfo/10", "transaction/1"], "\(selector)")
        try expectEqual(customer.subject, unlinked("10"), "\(selector)")
        try expectEqual(customer.record.accountID, nil)
        try expect(customer.record.revision > 0, "the revision is \(customer.record.revision)")
      }
    },

    ConformanceCase("A chain is found by its own id as the id of a transaction") { store, _ in
      // Only the renewals were received: the first transactions, 10 and 30, are not known.
      try await store.submit([
        TransactionSample("11", "10").signed(), RenewalSample("20").signed(),
      ])
      try await store.submit(TransactionSample("31", "30"), by: "alice")
      for id in ["10", "20", "30"] {
        let byChain = try await store.customer(.originalTransaction(OriginalTransactionID(id)))
        let customer = try await store.customer(.transaction(TransactionID(id)))
        try expect(!customer.factKeys.isEmpty, "the chain \(id) has no facts")
        try expectEqual(customer, byChain, id)
      }
      try expectEqual(
        try await store.customer(.transaction("30")).record.accountID, "alice", "the account")
      let other = AppScope(bundleID: "com.example.other", environment: .production)
      try expectEqual(
        try await store.customer(.transaction("10"), in: other).record.facts, [], "another app")
    },

    ConformanceCase("A known transaction goes before the chain that has its id (R7)") { store, _ in
      let first = TransactionSample("10", "10")
      try await store.submit(first, by: "alice")
      try await store.submit(TransactionSample("11", "10"))
      try await store.submit(TransactionSample("21", "20"), by: "bob")
      try expectEqual(try await store.customer(.transaction("10")).record.accountID, "alice")
      try await store.submit(
        first.with {
          $0.chain = "20"; $0.signedAt = 2_000
        })
      try expectEqual(try await store.customer(.transaction("10")).record.accountID, "bob")
      try expectEqual(
        try await store.customer(.originalTransaction("10")).record.accountID, "alice")
    },

    ConformanceCase("An app transaction id without an account finds all its unlinked chains") {
      store, _ in
      try await store.submit([
        TransactionSample("1", "10").with { $0.appTransaction = "900" }.signed(),
        RenewalSample("30").with { $0.appTransaction = "900" }.signed(),
        TransactionSample("4", "40").with { $0.appTransaction = "901" }.signed(),
        AppTransactionSample("900").signed(),
      ])
      let customer = try await store.customer(.appTransaction("900"))
      try expectEqual(
        customer.factKeys, ["appTransaction/900", "renewalInfo/30", "transaction/1"])
      try expectEqual(customer.subject, nil)
      let revisions = [
        try await store.customer(.originalTransaction("10")).record.revision,
        try await store.customer(.originalTransaction("30")).record.revision,
      ]
      try expectEqual(customer.record.revision, revisions.max() ?? 0)
      let alone = try await store.customer(.appTransaction("901"))
      try expectEqual(alone.factKeys, ["transaction/4"])
      try expectEqual(alone.subject, nil, "subject, since another chain may be added")
    },

    ConformanceCase("A token without an account finds all unlinked chains that carry it") {
      store, _ in
      try await store.submit([
        TransactionSample("1", "10").with { $0.token = token(1) }.signed(),
        TransactionSample("2", "10").with { $0.token = token(2) }.signed(),
        RenewalSample("30").with { $0.token = token(1) }.signed(),
      ])
      let customer = try await store.customer(.appAccountToken(token(1)))
      try expectEqual(customer.factKeys, ["renewalInfo/30", "transaction/1", "transaction/2"])
      try expectEqual(customer.subject, nil)
      try expectEqual(
        try await store.customer(.appAccountToken(token(2))).factKeys,
        ["transaction/1", "transaction/2"])
    },

    ConformanceCase(
      "A token without an account finds the account of a linked chain that carries it"
    ) { store, _ in
      try await store.submit(TransactionSample("1", "10"), by: "alice")
      try await store.submit(TransactionSample("3", "30").with { $0.token = token(1) })
      // The app started to set tokens, and only notifications have carried them so far.
      try await store.submit(
        TransactionSample("2", "10").with {
          $0.token = token(1); $0.signedAt = 2_000
        })
      let customer = try await store.customer(.appAccountToken(token(1)))
      try expectEqual(customer.record.accountID, "alice")
      try expectEqual(customer.factKeys, ["transaction/1", "transaction/2"])
      try expectEqual(customer.record, try await store.customer(.account("alice")).record)
      try expectEqual(customer.subject, nil, "subject: the token may get another account")
      try await store.submit(TransactionSample("4", "40").with { $0.token = token(1) }, by: "bob")
      let named = try await store.customer(.appAccountToken(token(1)))
      try expectEqual(named.subject, account("bob"))
      try expectEqual(named.factKeys, ["transaction/3", "transaction/4"])
    },

    ConformanceCase("A chain has the apps of its transactions") { store, _ in
      let other = AppScope(bundleID: "com.example.other", environment: .production)
      let sandbox = AppScope(bundleID: "com.example.sandbox", environment: .sandbox)
      let third = AppScope(bundleID: "com.example.third", environment: .production)
      try await store.submit([
        TransactionSample("1", "10").signed(),
        TransactionSample("1", "10").with { $0.scope = other }.signed(),
        TransactionSample("1", "10").with { $0.scope = sandbox }.signed(),
        RenewalSample("10").with { $0.scope = third }.signed(),
      ])
      try expectEqual(
        Set(try await store.bundleIDs(ofChain: "10", environment: .production)),
        ["com.example.reader", "com.example.other"])
      try expectEqual(
        try await store.bundleIDs(ofChain: "10", environment: .sandbox), ["com.example.sandbox"])
      try expectEqual(try await store.bundleIDs(ofChain: "10", environment: .xcode), [])
      try expectEqual(try await store.bundleIDs(ofChain: "99", environment: .production), [])
    },

    ConformanceCase("Accounts are listed page by page in the order of their ids") { store, _ in
      for number in [5, 3, 1, 4, 2] {
        try await store.submit(
          TransactionSample("\(number)", "\(number)"), by: AccountID("account-\(number)"))
      }
      try await store.submit(
        [TransactionSample("6", "6").signed()], by: "account-3", at: 9_000)
      let other = AppScope(bundleID: "com.example.other", environment: .production)
      try await store.submit(
        TransactionSample("1", "1").with { $0.scope = other }, by: "account-0")

      let all = try await store.accounts(in: readerScope, after: nil, limit: 100)
      try expectEqual(all.map(\.accountID.rawValue), (1...5).map { "account-\($0)" })
      try expectEqual(all.map(\.chainCount), [1, 1, 2, 1, 1])
      try expectEqual(all.map(\.updatedAt), [5_000, 5_000, 9_000, 5_000, 5_000])
      for summary in all {
        let customer = try await store.customer(.account(summary.accountID))
        try expectEqual(summary.revision, customer.record.revision)
      }
      var paged: [AccountSummary] = []
      while true {
        let page = try await store.accounts(
          in: readerScope, after: paged.last?.accountID, limit: 2)
        if page.isEmpty { break }
        try expect(page.count <= 2, "a page of \(page.count)")
        paged += page
      }
      try expectEqual(paged, all)
      try expectEqual(try await store.accounts(in: readerScope, after: nil, limit: 0), [])
      try expectEqual(try await store.accounts(in: readerScope, after: nil, limit: -1), [])
    },
  ]
}
