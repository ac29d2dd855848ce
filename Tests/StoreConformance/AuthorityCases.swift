import EntitlementDomain
import EntitlementStore

// A receipt counts only where no JWS has the fact, and an archived response only where no signed
// source has it (R51). Dates do not matter.
extension StoreConformanceSuite {
  static let authorityCases = [
    ConformanceCase(
      "A receipt never replaces a JWS, but a revocation that is signed later counts (R51, R92)"
    ) { store, _ in
      let signed = TransactionSample("1", "1")
      try await store.submit(signed, by: "alice")
      let revoked = signed.with { $0.isRevoked = true }
      let older = try await store.submit([revoked.with { $0.signedAt = 500 }.signedByReceipt()])
      try expectEqual(older.changed, [])
      let receipt = try await store.submit([
        revoked.with { $0.signedAt = 9_000 }.signedByReceipt()
      ])
      try expectEqual(receipt.dispositions, [.superseded])
      try expectEqual(receipt.changed.count, 1)
      try expectEqual(
        try await store.signedFact(signed.signed().fact.key, in: readerScope), signed.signed())
      for selector: CustomerSelector in [
        .account("alice"), .transaction("1"), .originalTransaction("1"),
      ] {
        try expectEqual(
          try await store.customer(selector).record.facts,
          [signed.signed().fact.revoked(at: 900)], "\(selector)")
      }
      let history = try await store.customerWithVersions(.account("alice"))
      try expectEqual(history.facts, [signed.signed().fact.revoked(at: 900)])
      try expectEqual(history.signed(by: 8_999).facts, [signed.signed().fact])
      try expectEqual(history.signed(by: 9_000).facts, [signed.signed().fact.revoked(at: 900)])
      // A JWS that was signed after the receipt says all itself.
      try await store.submit(signed.with { $0.signedAt = 9_500 })
      try expectEqual(
        try await store.customer(.transaction("1")).record.facts,
        [signed.with { $0.signedAt = 9_500 }.signed().fact])
    },

    ConformanceCase("A receipt keeps what only an archived response can say (R92)") { store, _ in
      for isArchiveFirst in [true, false] {
        let sample = TransactionSample("1", "1").with {
          $0.scope = AppScope(
            bundleID: BundleID("com.example.archive.\(isArchiveFirst)"), environment: .production)
        }
        let archive = try sample.with {
          $0.isUpgraded = true; $0.signedAt = 500
        }.archived()
        let receipt = try sample.signedByReceipt()
        for fact in isArchiveFirst ? [archive, receipt] : [receipt, archive] {
          try await store.submit([fact])
        }
        let record = try await store.customer(.transaction("1"), in: sample.scope).record
        guard case .transaction(let fact)? = record.facts.first else {
          throw ConformanceFailure("there is no transaction", file: #fileID, line: #line)
        }
        try expectEqual(fact.isUpgraded, true)
        try expectEqual(fact.authority, .receipt)
        try expectEqual(try await store.signedFact(receipt.fact.key, in: sample.scope), receipt)
      }
    },

    ConformanceCase("A JWS replaces the fact of a newer receipt (R51)") { store, _ in
      let signed = TransactionSample("1", "1")
      try await store.submit([signed.with { $0.signedAt = 9_000 }.signedByReceipt()])
      let receipt = try await store.submit(signed)
      try expectEqual(receipt.dispositions, [.replaced])
      try expectEqual(
        try await store.signedFact(signed.signed().fact.key, in: readerScope), signed.signed())
    },

    ConformanceCase("Of two receipts the newer one counts, and a repeated one is a duplicate") {
      store, _ in
      let old = try TransactionSample("1", "1").signedByReceipt()
      let new = try TransactionSample("1", "1").with { $0.signedAt = 2_000 }.signedByReceipt()
      let receipt = try await store.submit([old, old, new, old])
      try expectEqual(receipt.dispositions, [.added, .duplicate, .replaced, .superseded])
      let stored = try await store.customer(.transaction("1")).record.facts
      try expectEqual(stored, [new.fact])
      try expectEqual(stored.map(\.precedence.authority), [.receipt])
      try expectEqual(try await store.signedFact(new.fact.key, in: readerScope), new)
    },

    ConformanceCase("The same content has more authority as a JWS") { store, _ in
      let sample = AppTransactionSample("900")
      try await store.submit([sample.signedByReceipt()], by: "alice")
      let receipt = try await store.submit([sample.signed(), sample.signedByReceipt()])
      try expectEqual(receipt.dispositions, [.replaced, .superseded])
      let facts = try await store.customer(.account("alice")).record.facts
      try expectEqual(facts.map(\.precedence.authority), [.signedTransaction])
    },

    ConformanceCase("Receipts and JWS merge to the same result in every order (R3, R51)") {
      store, _ in
      let base = TransactionSample("1", "1")
      let versions: [@Sendable (AppScope) throws -> SignedFact] = [
        { scope in try base.with { $0.scope = scope }.signed() },
        { scope in
          try base.with {
            $0.scope = scope
            $0.signedAt = 2_000
          }.signed()
        },
        { scope in
          try base.with {
            $0.scope = scope
            $0.signedAt = 8_000
          }.signedByReceipt()
        },
        { scope in
          try base.with {
            $0.scope = scope
            $0.signedAt = 9_000
            $0.isRevoked = true
          }.signedByReceipt()
        },
      ]
      for (number, order) in versions.permutations().enumerated() {
        let scope = AppScope(
          bundleID: BundleID("com.example.authority.\(number)"), environment: .production)
        for version in order { try await store.submit([version(scope)]) }
        let stored = try await store.customer(.transaction("1"), in: scope).record.facts
        let expected = try versions[1](scope).fact.revoked(at: 900)
        try expectEqual(stored, [expected], "fact of order \(number)")
      }
    },

    ConformanceCase(
      "JWS, receipt and archived response merge by authority, whatever their dates"
    ) {
      store, _ in
      try await expectTheSigned(TransactionSample("1", "1"), { $0.signedAt = $1 }, in: store)
      try await expectTheSigned(AppTransactionSample("900"), { $0.signedAt = $1 }, in: store)
      try await expectTheSigned(RenewalSample("1"), { $0.signedAt = $1 }, in: store)
    },

    ConformanceCase("A receipt replaces a newer archived response, never the reverse") {
      store, _ in
      let sample = TransactionSample("1", "1")
      let archived = try sample.with { $0.signedAt = 9_000 }.archived()
      let receipt = try sample.signedByReceipt()
      try expectEqual(
        try await store.submit([archived, receipt, archived]).dispositions,
        [.added, .replaced, .superseded])
      try expectEqual(try await store.signedFact(receipt.fact.key, in: readerScope), receipt)
    },

    ConformanceCase("The same content in another kind of document is no duplicate") {
      store, _ in
      let sample = RenewalSample("1")
      let archived = try sample.archived()
      try expectEqual(
        try await store.submit([archived, archived, sample.signed(), archived]).dispositions,
        [.added, .duplicate, .replaced, .superseded])
      try expectEqual(
        try await store.customer(.originalTransaction("1")).record.facts.map(\.authority),
        [.signedTransaction])
    },
  ]

  /// Stores a JWS, a receipt item and an archived item with every assignment of dates in every
  /// order, each in its own scope, and expects the JWS to win.
  private static func expectTheSigned<Sample: FactSample>(
    _ sample: Sample, _ date: (inout Sample, Int64) -> Void, in store: any EntitlementStore
  ) async throws {
    var number = 0
    for dates in [Int64(1_000), 2_000, 3_000].permutations() {
      for order in [0, 1, 2].permutations() {
        number += 1
        let scope = AppScope(
          bundleID: BundleID("com.example.\(Sample.self).\(number)"), environment: .production)
        let versions = try dates.enumerated().map { kind, moment in
          var sample = sample
          sample.scope = scope
          date(&sample, moment)
          return try kind == 0
            ? sample.signed() : kind == 1 ? sample.signedByReceipt() : sample.archived()
        }
        for kind in order { try await store.submit([versions[kind]]) }
        let stored = try await store.signedFact(versions[0].fact.key, in: scope)
        try expectEqual(stored, versions[0], "dates \(dates), order \(order)")
      }
    }
  }
}

extension Fact {
  fileprivate func revoked(at moment: Milliseconds) -> Fact {
    guard case .transaction(var fact) = self else { return self }
    fact.revocationDate = moment
    return .transaction(fact)
  }
}
