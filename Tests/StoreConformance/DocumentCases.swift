import EntitlementDomain
import EntitlementStore

// Facts from legacy receipts and archived responses. Each document proves many facts (R51).
extension StoreConformanceSuite {
  private static let receipt = Array("a receipt of 187 purchases".utf8)

  /// 186 purchases and the app.
  private static func facts(_ document: [UInt8], at moment: Int64) throws -> [SignedFact] {
    let app = try AppTransactionSample("receipt:1").with { $0.signedAt = moment }
      .signedByReceipt(document)
    return try [app]
      + (1...186).map { number in
        try TransactionSample("\(number)", "\(1 + number % 40)").with {
          $0.appTransaction = "receipt:1"; $0.signedAt = moment
        }.signedByReceipt(document)
      }
  }

  static let documentCases = [
    ConformanceCase("A receipt of 187 facts is stored in one submission and proves each of them") {
      store, _ in
      let facts = try facts(receipt, at: 1_000)
      let first = try await store.submit(facts, by: "alice")
      try expectEqual(Set(first.dispositions), [.added])
      try expectEqual(Set(first.links), [.linked])
      try expectEqual(first.changed, [account("alice")])
      try expectEqual(try await store.feed().count, 1, "changes")
      for fact in facts {
        try expectEqual(try await store.signedFact(fact.fact.key, in: readerScope), fact)
      }
      let stored = try await store.customer(.account("alice")).record
      try expectEqual(Set(stored.facts), Set(facts.map(\.fact)))
      let again = try await store.submit(facts, by: "alice")
      try expectEqual(Set(again.dispositions), [.duplicate])
      try expectEqual(again.changed, [])
      try expectEqual(
        try await store.customer(.account("alice")).record.revision, stored.revision)
    },

    ConformanceCase("A newer receipt replaces all facts of the earlier one") {
      store, _ in
      let newer = try facts(receipt + [0], at: 2_000)
      try await store.submit(facts(receipt, at: 1_000))
      try expectEqual(
        Set(try await store.submit(newer).dispositions), [.replaced])
      try expectEqual(
        Set(try await store.submit(facts(receipt, at: 1_000)).dispositions), [.superseded])
      for fact in newer {
        try expectEqual(try await store.signedFact(fact.fact.key, in: readerScope), fact)
      }
    },

    ConformanceCase("Before any account, the app and the purchases of a receipt are one customer") {
      store, _ in
      try await store.submit(facts(receipt, at: 1_000))
      let whole = try await store.customer(.appTransaction("receipt:1"))
      try expectEqual(whole.record.facts.count, 187)
      // One of its purchases, submitted as a JWS for an account, links the others too (R42).
      try await store.submit(TransactionSample("1", "2"), by: "alice")
      try expectEqual(try await store.customer(.account("alice")).record.facts.count, 187)
    },

    ConformanceCase(
      "A fact proved by a JWS leaves its receipt; the others stay"
    ) {
      store, _ in
      let document = Array("two purchases".utf8)
      let first = try TransactionSample("1", "1").signedByReceipt(document)
      let second = try TransactionSample("2", "2").signedByReceipt(document)
      try await store.submit([first, second])
      let signed = try TransactionSample("1", "1").signed()
      try await store.submit([signed])
      try expectEqual(try await store.signedFact(signed.fact.key, in: readerScope), signed)
      try expectEqual(try await store.signedFact(second.fact.key, in: readerScope), second)
    },

    ConformanceCase("A document may prove facts submitted separately, in any app and environment") {
      store, _ in
      let document = Array("kept by two apps".utf8)
      let sandbox = AppScope(bundleID: "com.example.notes", environment: .sandbox)
      let facts = [
        try TransactionSample("1", "1").signedByReceipt(document),
        try TransactionSample("1", "1").with { $0.scope = sandbox }.signedByReceipt(document),
        try RenewalSample("7").archived(document), try AppTransactionSample(nil).archived(document),
        try TransactionSample("2", "1").archived([]),
      ]
      for fact in facts { try await store.submit([fact]) }
      for fact in facts {
        try expectEqual(try await store.signedFact(fact.fact.key, in: fact.fact.scope), fact)
      }
    },

    ConformanceCase("An export holds each document once, for any number of its facts") {
      store, _ in
      let other = Array("a second receipt".utf8)
      let exported =
        try facts(receipt, at: 1_000) + [
          try TransactionSample("700", "700").signedByReceipt(other),
          try TransactionSample("701", "700").signedByReceipt(other),
          try TransactionSample("800", "800").signed(),
        ]
      try await store.submit(exported, by: "alice")
      let export = try unwrap(try await store.export("alice", in: readerScope), "export")
      try expectEqual(Set(export.facts), Set(exported))
      let held = export.facts.compactMap { fact -> UnsafeRawPointer? in
        guard case .document(let bytes) = fact.signed.proof else { return nil }
        // One address in memory is one copy.
        return bytes.withUnsafeBytes { $0.baseAddress }
      }
      try expectEqual(held.count, 189, "facts from documents")
      try expectEqual(Set(held).count, 2, "copies of documents")
    },

    ConformanceCase("An export holds the header of each signer once, for any number of payloads") {
      store, _ in
      let signed = try (1...9).map { try TransactionSample("\($0)", "\($0)").signed() }
      let told = notification(1, "SUBSCRIBED")
      try await store.submit(Array(signed.dropLast()), by: "alice")
      try await store.submit([try unwrap(signed.last, "the last")], by: "alice", notification: told)
      let export = try unwrap(try await store.export("alice", in: readerScope), "export")
      try expectEqual(Set(export.facts), Set(signed))
      let proofs = (export.facts.map(\.signed) + export.notifications.map(\.notification.signed))
      var copies: [[UInt8]: Set<UnsafeRawPointer?>] = [:]
      for case .jws(let header, _) in proofs.map(\.proof) {
        copies[header, default: []].insert(header.withUnsafeBytes { $0.baseAddress })
      }
      try expectEqual(proofs.count, 10, "signed payloads")
      try expectEqual(copies.isEmpty, false, "there are headers")
      try expectEqual(copies.values.map(\.count).max(), 1, "copies of a header")
    },

    ConformanceCase("A large document is returned byte for byte, also after a restart") {
      store, harness in
      let document = (0..<4_194_304).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) }
      let fact = try TransactionSample("1", "1").signedByReceipt(document)
      try await store.submit([fact])
      let reopened = try await harness.reopen(store)
      let stored = try await reopened.signedFact(fact.fact.key, in: readerScope)
      await reopened.close()
      try expectEqual(stored == fact, true, "the same bytes")
    },
  ]
}
