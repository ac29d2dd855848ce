import EntitlementDomain
import EntitlementStore

extension StoreConformanceSuite {
  static let scopeCases = [
    ConformanceCase("Apps and environments are separate, also with equal ids (R9)") { store, _ in
      let scopes = StoreEnvironment.allCases.flatMap { environment in
        ["com.example.reader", "com.example.other"].map {
          AppScope(bundleID: $0, environment: environment)
        }
      }
      for (number, scope) in scopes.enumerated() {
        try await store.submit(
          [
            TransactionSample("1", "1").with {
              $0.scope = scope
              $0.token = token(1)
              $0.appTransaction = "900"
              $0.signedAt = Int64(number)
            }.signed(),
            RenewalSample("1").with { $0.scope = scope }.signed(),
            AppTransactionSample("900").with { $0.scope = scope }.signed(),
          ], by: "alice")
      }
      // No hint crosses scopes: all but one scope do not know this chain.
      try await store.submit(
        TransactionSample("2", "2").with {
          $0.scope = scopes[0]
          $0.token = token(1)
          $0.appTransaction = "900"
          $0.previousChain = "1"
        })
      for (number, scope) in scopes.enumerated() {
        for selector: CustomerSelector in [
          .account("alice"), .originalTransaction("1"), .transaction("1"), .appTransaction("900"),
          .appAccountToken(token(1)),
        ] {
          let customer = try await store.customer(selector, in: scope)
          try expectEqual(customer.record.facts.count, number == 0 ? 4 : 3, "\(selector)")
          try expect(customer.record.facts.allSatisfy { $0.scope == scope }, "\(selector) mixes")
          try expectEqual(customer.subject, account("alice", in: scope))
        }
        try expectEqual(
          try await store.accounts(in: scope, after: nil, limit: 9).map(\.chainCount),
          [number == 0 ? 2 : 1])
        try expectEqual(try await store.linkHistory(of: .chain("1"), in: scope).count, 1)
      }
    },

    ConformanceCase("A hint of another scope has no effect (R9)") { store, _ in
      let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      try await store.submit(
        TransactionSample("1", "1").with {
          $0.token = token(1); $0.appTransaction = "900"
        },
        by: "alice")
      try await store.submit(
        TransactionSample("2", "2").with {
          $0.scope = sandbox
          $0.token = token(1)
          $0.appTransaction = "900"
          $0.previousChain = "1"
        })
      let customer = try await store.customer(.originalTransaction("2"), in: sandbox)
      try expectEqual(customer.subject, unlinked("2", in: sandbox))
    },

    ConformanceCase("One submission may hold facts of several scopes") { store, _ in
      let other = AppScope(bundleID: "com.example.other", environment: .xcode)
      let receipt = try await store.submit(
        [
          TransactionSample("1", "1").signed(),
          TransactionSample("1", "1").with { $0.scope = other }.signed(),
        ], by: "alice")
      try expectEqual(receipt.changed, [account("alice"), account("alice", in: other)])
      try expectEqual(try await store.feed().compactMap(\.subject), receipt.changed)
    },
  ]
}
