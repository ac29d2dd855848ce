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

    ConformanceCase("Facts of several machines with the same ids are kept apart (R94)") {
      store, _ in
      for environment in [StoreEnvironment.xcode, .localTesting] {
        let scope = AppScope(bundleID: readerScope.bundleID, environment: environment)
        let machines: [(account: AccountID, machine: SigningMachine)] = [
          ("alice", SigningMachine(fingerprint: "0a1b2c3d4e")),
          ("bob", SigningMachine(fingerprint: "98765432ff")),
        ]
        for (account, machine) in machines {
          for version in 1...2 {
            try await store.submit(
              [
                TransactionSample("0", "0").with {
                  $0.scope = scope
                  $0.appTransaction = "0"
                  $0.signedAt = Int64(version)
                  $0.storefront = version == 1 ? "USA" : "CAN"
                }.signed(on: machine),
                RenewalSample("0").with {
                  $0.scope = scope
                  $0.signedAt = Int64(version)
                  $0.autoRenews = version == 1
                }.signed(on: machine),
                AppTransactionSample("0").with { $0.scope = scope }.signed(on: machine),
              ], by: account)
          }
          // What a receipt adds is of the same machine.
          var receipt = try TransactionSample("0", "0").with {
            $0.scope = scope
            $0.signedAt = 9
            $0.isRevoked = true
          }.signedByReceipt()
          receipt.fact = receipt.fact.marked(by: machine)
          try await store.submit([receipt])
        }
        for (account, machine) in machines {
          let id = "0" + machine.mark
          for selector: CustomerSelector in [
            .account(account), .transaction(TransactionID(id)),
            .originalTransaction(OriginalTransactionID(id)), .appTransaction(AppTransactionID(id)),
          ] {
            let record = try await store.customer(selector, in: scope).record
            try expectEqual(record.accountID, account, "\(selector)")
            try expectEqual(record.facts.map(\.key.identifier), [id, id, id], "\(selector)")
            try expectEqual(
              record.facts.compactMap(\.chain?.rawValue), [id, id], "\(selector)")
            let history = try await store.customerWithVersions(selector, in: scope)
            try expectEqual(
              Set(history.versions.map(\.fact.key.identifier)), [id], "\(selector)")
            // The supplement is one of its own, beside the receipt.
            try expectEqual(history.versions.count, 6, "\(selector)")
            try expectEqual(history.signed(by: 1).facts.count, 3, "\(selector)")
          }
          let key = FactKey(kind: .transaction, identifier: id)
          try expectEqual(try await store.signedFact(key, in: scope)?.fact.key, key)
          let export = try unwrap(try await store.export(account, in: scope), "export")
          try expectEqual(Set(export.facts.map(\.fact.key.identifier)), [id])
        }
        for selector: CustomerSelector in [
          .transaction("0"), .originalTransaction("0"), .appTransaction("0"),
        ] {
          try expectEqual(
            try await store.customer(selector, in: scope).record.facts, [], "\(selector)")
        }
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
