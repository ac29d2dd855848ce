import EntitlementDomain
import EntitlementStore

// What a legacy receipt says counts where no JWS says it (R51), whenever either was made.
extension StoreConformanceSuite {
  static let authorityCases = [
    ConformanceCase("A receipt never replaces what came as a JWS, however new it is (R51)") {
      store, _ in
      let signed = TransactionSample("1", "1")
      try await store.submit(signed)
      let receipt = try await store.submit([
        signed.with {
          $0.signedAt = 9_000; $0.isRevoked = true
        }.signedByReceipt()
      ])
      try expectEqual(receipt.dispositions, [.superseded])
      try expectEqual(receipt.changed, [])
      try expectEqual(
        try await store.customer(.transaction("1")).record.facts, [signed.signed().fact])
    },

    ConformanceCase("A JWS replaces what a newer receipt said (R51)") { store, _ in
      let signed = TransactionSample("1", "1")
      try await store.submit([signed.with { $0.signedAt = 9_000 }.signedByReceipt()])
      let receipt = try await store.submit(signed)
      try expectEqual(receipt.dispositions, [.replaced])
      try expectEqual(
        try await store.signedFact(signed.signed().fact.key, in: readerScope), signed.signed())
    },

    ConformanceCase("Of two receipts the newer one counts, and a repeat is a duplicate") {
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

    ConformanceCase("The very same content counts more as a JWS") { store, _ in
      let sample = AppTransactionSample("900")
      try await store.submit([sample.signedByReceipt()], by: "alice")
      let receipt = try await store.submit([sample.signed(), sample.signedByReceipt()])
      try expectEqual(receipt.dispositions, [.replaced, .superseded])
      let facts = try await store.customer(.account("alice")).record.facts
      try expectEqual(facts.map(\.precedence.authority), [.signedTransaction])
    },

    ConformanceCase("Receipts and JWS merge alike in every order (R3, R51)") { store, _ in
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
        try expectEqual(stored, [versions[1](scope).fact], "fact of order \(number)")
      }
    },
  ]
}
