import EntitlementDomain
import EntitlementStore

// Versions of facts, and what was signed by a moment (R53, R54).
extension StoreConformanceSuite {
  static let versionCases = [
    ConformanceCase("The versions of a renewal info are kept in every order (R3, R53)") {
      store, _ in
      // On, off, and on again: the last says what the first said.
      let samples = [
        RenewalSample("1"),
        RenewalSample("1").with {
          $0.signedAt = 2_000; $0.autoRenews = false
        },
        RenewalSample("1").with { $0.signedAt = 3_000 },
        RenewalSample("1").with {
          $0.signedAt = 2_500; $0.autoRenews = false
        },
      ]
      for (number, order) in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 2, 0, 3]].enumerated() {
        let chain = OriginalTransactionID("\(number)")
        try await store.submit(TransactionSample("\(number)", "\(number)"))
        for index in order {
          try await store.submit(samples[index].with { $0.chain = chain })
        }
        for (moment, autoRenews) in [
          (999, nil), (1_000, true), (1_999, true), (2_000, false), (2_999, false), (3_000, true),
        ] as [(Int64, Bool?)] {
          try expectEqual(
            try await store.renewalInfo(of: chain, signedBy: moment)?.autoRenews, autoRenews,
            "order \(order), moment \(moment)")
        }
        let present = try await store.customer(.originalTransaction(chain))
        try expectEqual(present.record.versions, [], "versions of the present")
        try expectEqual(present.record.facts.count, 2)
      }
    },

    ConformanceCase("A repeat stores its signing moment, and a repeated submission nothing (R53)") {
      store, _ in
      let sample = TransactionSample("1", "1")
      for moment: Int64 in [1_000, 3_000, 2_000, 3_000, 1_000] {
        try await store.submit(sample.with { $0.signedAt = moment }, by: "alice")
      }
      let record = try await store.customerWithVersions(.account("alice"))
      try expectEqual(record.versions.map(\.moments.sorted), [[1_000, 2_000, 3_000]])
      let export = try unwrap(try await store.export("alice", in: readerScope), "export")
      try expectEqual(export.versions.map(\.moments.sorted), [[1_000, 2_000, 3_000]])
      try expectEqual(export.versions.map(\.signed), [nil], "the standing version is a fact")
    },

    ConformanceCase("A version that comes late changes the past only (R53)") { store, _ in
      let standing = TransactionSample("1", "1").with {
        $0.signedAt = 2_000; $0.isRevoked = true
      }
      let first = try await store.submit(standing, by: "alice")
      let late = TransactionSample("1", "1")
      let receipt = try await store.submit(late, by: "alice")

      try expectEqual(receipt.dispositions, [.superseded])
      try expectEqual(receipt.changed, [])
      try expectEqual(receipt.customers, first.customers, "revisions")
      let past = try await store.customerWithVersions(.account("alice")).signed(by: 1_500)
      guard case .transaction(let transaction)? = past.facts.first else {
        throw ConformanceFailure("there is no transaction", file: #fileID, line: #line)
      }
      try expectEqual(transaction.revocationDate, nil)
      let export = try unwrap(try await store.export("alice", in: readerScope), "export")
      try expectEqual(
        export.versions.map(\.signed), [try late.signed().signed, nil], "payloads")
    },

    ConformanceCase("Versions move with their transaction (R7)") { store, _ in
      let old = TransactionSample("1", "10")
      try await store.submit(old, by: "alice")
      try await store.submit(
        old.with {
          $0.signedAt = 1_500; $0.storefront = "CAN"
        }, by: "alice")
      try await store.submit(TransactionSample("2", "20"), by: "bob")
      try await store.submit(
        old.with {
          $0.chain = "20"; $0.signedAt = 2_000
        })
      let bob = try await store.customerWithVersions(.account("bob"))
      try expectEqual(bob.versions.map(\.moments.first), [1_000, 1_500, 2_000])
      try expectEqual(try await store.customerWithVersions(.account("alice")).versions, [])
      for selector: CustomerSelector in [.originalTransaction("20"), .transaction("1")] {
        try expectEqual(try await store.customerWithVersions(selector), bob, "\(selector)")
      }
    },

    ConformanceCase("A version of a receipt's purchase keeps its payload, not the receipt") {
      store, _ in
      let sample = TransactionSample("1", "1")
      try await store.submit([try sample.signedByReceipt()], by: "alice")
      try await store.submit(
        sample.with {
          $0.signedAt = 2_000; $0.storefront = "CAN"
        }, by: "alice")
      let record = try await store.customerWithVersions(.account("alice"))
      try expectEqual(record.versions.count, 2)
      let export = try unwrap(try await store.export("alice", in: readerScope), "export")
      try expectEqual(
        export.versions.compactMap(\.signed).map(\.proof), [.document([])], "proofs")
      try expectEqual(export.versions.compactMap(\.authority), [.receipt])
    },

    ConformanceCase("Versions are found by every selector, of unlinked chains too") { store, _ in
      let sample = TransactionSample("1", "1").with {
        $0.token = token(1); $0.appTransaction = "900"
      }
      try await store.submit(sample)
      try await store.submit(
        sample.with {
          $0.signedAt = 2_000; $0.storefront = "CAN"
        })
      let selectors: [CustomerSelector] = [
        .originalTransaction("1"), .transaction("1"), .appTransaction("900"),
        .appAccountToken(token(1)),
      ]
      for selector in selectors {
        try expectEqual(
          try await store.customerWithVersions(selector).versions.count, 2, "\(selector)")
      }
    },

    ConformanceCase("Facts of one submission are versions of each other") { store, _ in
      let first = TransactionSample("1", "1")
      let facts = try [
        first.signed(),
        first.with {
          $0.signedAt = 2_000; $0.storefront = "CAN"
        }.signed(),
        first.with { $0.signedAt = 3_000 }.signed(),
        first.with {
          $0.signedAt = 2_500; $0.storefront = "MEX"
        }.signed(),
      ]
      try await store.submit(facts, by: "alice")
      let together = try await store.customerWithVersions(.account("alice"))
      try expectEqual(together.versions.count, 3)
      try expectEqual(
        Set(together.versions.map(\.moments.sorted)),
        [[1_000, 3_000], [2_000], [2_500]])
      try await store.submit(
        first.with {
          $0.signedAt = 4_000; $0.storefront = "CAN"
        }, by: "alice")
      let later = try await store.customerWithVersions(.account("alice"))
      try expectEqual(
        Set(later.versions.map(\.moments.sorted)), [[1_000, 3_000], [2_000, 4_000], [2_500]])
    },

    ConformanceCase("Many versions are thinned out alike in every order (R3)") { store, _ in
      let samples = (0..<3 * FactHistory.limit).map { number in
        TransactionSample("1", "1").with {
          $0.signedAt = Int64(1_000 + number); $0.storefront = "X\(number)"
        }
      }
      for (account, order) in [
        ("a", samples), ("b", samples.reversed()),
        ("c", samples.sorted { $0.storefront < $1.storefront }),
      ] {
        for sample in order {
          try await store.submit(
            sample.with {
              $0.id = TransactionID(account)
              $0.chain = OriginalTransactionID(account)
            }, by: AccountID(account))
        }
        let record = try await store.customerWithVersions(.account(AccountID(account)))
        try expect(record.versions.count <= FactHistory.limit + 2, "\(record.versions.count)")
        let moments = record.versions.flatMap(\.moments.sorted)
        try expectEqual(moments.min(), 1_000)
        try expectEqual(moments.max(), Milliseconds(Int64(999 + samples.count)))
      }
    },
  ]
}

extension EntitlementStore {
  func customerWithVersions(
    _ selector: CustomerSelector, in scope: AppScope = readerScope
  ) async throws -> CustomerRecord {
    var record = try await customer(selector, in: scope, includesVersions: true).record
    record.versions.sort { ($0.moments.first, $0.fact.digest) < ($1.moments.first, $1.fact.digest) }
    record.facts.sort { $0.digest < $1.digest }
    return record
  }

  fileprivate func renewalInfo(
    of chain: OriginalTransactionID, signedBy moment: Int64
  ) async throws -> RenewalInfoFact? {
    let record = try await customerWithVersions(.originalTransaction(chain))
      .signed(by: Milliseconds(moment))
    for case .renewalInfo(let info) in record.facts { return info }
    return nil
  }
}
