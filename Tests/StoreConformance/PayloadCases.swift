import Cryptography
import EntitlementDomain
import EntitlementStore
import TestSupport

// What was signed is returned byte for byte, in whatever form it is stored.
extension StoreConformanceSuite {
  /// Everything of an account and of others that holds payloads, as callers read it.
  private struct Contents: Equatable {
    var export: AccountExport?
    var facts: [SignedFact?]
    var notifications: [SignedNotification?]
    /// A store returns them in any order.
    var customer: Set<Fact>
    var revision: Int64
    var feedEnd: Int64
  }

  /// Facts, versions, documents and notifications of all kinds.
  private struct Stored {
    var keys: [FactKey] = []
    var notifications: [SignedNotification] = []
    var documents: [[UInt8]] = []

    func contents(of store: any EntitlementStore) async throws -> Contents {
      var facts: [SignedFact?] = []
      for key in keys { facts.append(try await store.signedFact(key, in: readerScope)) }
      var found: [SignedNotification?] = []
      for notification in notifications {
        found.append(try await store.notification(notification.record.uuid))
      }
      let record = try await store.customer(
        .account("alice"), in: readerScope, includesVersions: true
      ).record
      return Contents(
        export: try await store.export("alice", in: readerScope), facts: facts,
        notifications: found,
        customer: Set(record.facts), revision: record.revision,
        feedEnd: try await store.changedCustomers(after: 0).latest)
    }
  }

  private static func fill(
    _ store: any EntitlementStore, using random: inout SeededRandom
  ) async throws -> Stored {
    var stored = Stored()
    // Documents of any first byte, also such as tell a form.
    for first in 0..<20 {
      let document =
        first == 19
        ? [] : [UInt8(first)] + random.bytes(upTo: 40) + [UInt8](repeating: 7, count: first * 9)
      stored.documents.append(document)
      let fact = try TransactionSample("\(100 + first)", "\(100 + first)").signedByReceipt(document)
      stored.keys.append(fact.fact.key)
      try await store.submit([fact], by: "alice")
    }
    for number in 0..<12 {
      let chain = OriginalTransactionID("\(number)")
      var facts = [
        try TransactionSample("\(number)", chain.rawValue).with {
          $0.padding = Int.random(in: 0...3_000, using: &random)
        }.signed()
      ]
      // Versions of a renewal info.
      for version in 0..<3 {
        facts.append(
          try RenewalSample(chain).with {
            $0.signedAt = Int64(1_000 + version); $0.autoRenews = version == 1
          }.signed())
      }
      stored.keys += [facts[0].fact.key, facts[1].fact.key]
      for fact in facts { try await store.submit([fact], by: "alice") }
      let told = Self.notification(number, about: Array(facts.prefix(number % 3)))
      stored.notifications.append(told)
      try await store.submit([facts[0]], by: "alice", notification: told)
    }
    for fact in try versionsWithHints.shuffled(using: &random).map({ try $0.signed() }) {
      if !stored.keys.contains(fact.fact.key) { stored.keys.append(fact.fact.key) }
      try await store.submit([fact], by: "alice")
    }
    for id in ["900", "704003709300000000"] {
      let app = try AppTransactionSample(AppTransactionID(id)).with {
        $0.signedAt = 1_700_000_000_000
      }.signed()
      stored.keys.append(app.fact.key)
      try await store.submit([app], by: "alice")
    }
    return stored
  }

  /// Versions of two transactions whose ids, hints and moments are as long as Apple's, so that their rows
  /// hold them. Each version has others, and some have the same text for several, or parts of one.
  private static let versionsWithHints: [TransactionSample] = {
    let id = "2000000812345678"
    let sample = TransactionSample(id, id)
    let token = "5c0a8f4e-3b1d-4e2a-9f60-0123456789ab"
    let changes: [(inout TransactionSample) -> Void] = [
      { _ in },
      { $0.token = AppAccountToken(token) },
      {
        $0.token = AppAccountToken(token.uppercased()); $0.appTransaction = "704003709300000000"
      },
      {
        $0.token = "7d1b9e5f-4c2e-4f3b-8a71-123456789abc"; $0.appTransaction = "704003709300000001"
      },
      {
        $0.appTransaction = AppTransactionID(id); $0.previousChain = "2000000811111111"
      },
      { $0.appTransaction = AppTransactionID(String(id.prefix(12))) },
      {
        $0.chain = "2000000800000000"; $0.appTransaction = AppTransactionID(id + "0")
      },
      {
        $0.chain = "2000000800000000"; $0.previousChain = "\u{00e9}t\u{00e9}-2000000"
      },
    ]
    return changes.enumerated().flatMap { index, change in
      let version = sample.with {
        $0.signedAt = 1_700_000_000_000 + Int64(index)
        $0.storefront = "S\(index)"
        change(&$0)
      }
      return [version, version.with { $0.id = "2000000812345679" }]
    }
  }()
  /// The versions that do not stand, of these and of renewal infos.
  private static let otherVersions = versionsWithHints.count - 2 + 12

  /// A notification with JWS inside. Every fourth has one whose base64url is not canonical.
  private static func notification(_ number: Int, about facts: [SignedFact]) -> SignedNotification {
    let inner = facts.map { fact -> String in
      guard case .jws(let header, let signature) = fact.signed.proof else { return "" }
      let parts = [
        header, Base64Form.urlWithoutPadding.encode(fact.signed.payload),
        Base64Form.urlWithoutPadding.encode(signature),
      ].map { String(decoding: $0, as: UTF8.self) }
      return parts.joined(separator: ".") + (number % 4 == 3 ? "=" : "")
    }
    let members = inner.enumerated().map { ",\"signed\($0.offset)\":\"\($0.element)\"" }.joined()
    let id = uuid(number)
    let payload = Array(
      "{\"notificationType\":\"TEST\",\"notificationUUID\":\"\(id)\"\(members),\"signedDate\":4000}"
        .utf8)
    return SignedNotification(
      record: NotificationRecord(
        uuid: id, type: "TEST", scope: readerScope, signedDate: 4_000,
        digest: PayloadSample.digest(of: payload)),
      signed: PayloadSample.signedPayload(payload))
  }

  static let payloadCases = [
    ConformanceCase("Payloads of all kinds and documents are returned byte for byte") {
      store, harness in
      var random = SeededRandom(for: "payloads of all kinds")
      let stored = try await fill(store, using: &random)
      let contents = try await stored.contents(of: store)
      try expectEqual(contents.facts.contains(nil), false, "a fact is missing")
      try expectEqual(contents.notifications, stored.notifications, "notifications")
      var documents: [[UInt8]] = []
      for case .document(let bytes) in contents.facts.compactMap({ $0?.signed.proof }) {
        documents.append(bytes)
      }
      try expectEqual(documents, stored.documents, "documents")
      let export = try unwrap(contents.export, "export")
      try expectEqual(
        Set(export.notifications.map(\.notification)), Set(stored.notifications), "exported")
      try expectEqual(export.versions.count { $0.signed != nil }, otherVersions, "other versions")
      let payloads = (export.facts.map(\.signed) + export.versions.compactMap(\.signed)).map(
        \.payload)
      for sample in versionsWithHints {
        let payload = try sample.signed().signed.payload
        try expectEqual(payloads.contains(payload), true, "a version is missing")
      }
      for fact in export.facts {
        try expectEqual(PayloadSample.digest(of: fact.signed.payload), fact.fact.precedence.digest)
      }
      let reopened = try await harness.reopen(store)
      let again = try await stored.contents(of: reopened)
      await reopened.close()
      try expectEqual(again == contents, true, "the same after a restart")
    },

    ConformanceCase("Ids that are the same characters in other bytes are two facts") { store, _ in
      // The sign of Kelvin is equal to the letter K for Swift, as a text.
      let samples = ["A\u{212A}2000000", "AK2000000"].map {
        TransactionSample($0, "2000000800000000")
      }
      let facts = try samples.enumerated().map { index, sample in
        try sample.with { $0.signedAt = 1_700_000_000_000 + Int64(index) }.archived()
      }
      try await store.submit(facts, by: "alice")
      for fact in facts {
        let stored = try await store.signedFact(fact.fact.key, in: readerScope)
        try expectEqual(stored?.signed.payload, fact.signed.payload)
      }
      try expectEqual(try await store.export("alice", in: readerScope)?.facts.count, 2)
    },
  ]
}
