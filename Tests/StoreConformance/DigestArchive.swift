import EntitlementDomain
package import EntitlementStore

/// Facts, documents and notifications as earlier versions left them, for tests of the migrations that
/// shorten digests (R67), and with them the ids of app transactions that Apple gave none.
package struct DigestArchive: Sendable {
  private struct Call: Sendable {
    var facts: [SignedFact]
    var account: AccountID?
    var notification: SignedNotification?
    /// What a store does with the facts when all calls were made before.
    var disposition = FactDisposition.duplicate
  }

  /// What callers read.
  package struct Answers: Equatable, Sendable {
    var exports: [AccountExport?] = []
    var facts: [SignedFact?] = []
    var notifications: [SignedNotification?] = []
    /// A store returns them in any order.
    var customers: [Set<Fact>] = []
    var owners: [AccountID?] = []
    var histories: [[LinkEvent]] = []
    var feed: [Change] = []
  }

  private static let receipt = Array("a receipt of two purchases".utf8)

  private let calls: [Call]
  /// App transactions without an id, whose ids are made of their digests.
  private let appTransactions: [LinkTarget]

  package init() throws {
    let apps = (1...5).map { number in
      AppTransactionSample(nil).with { $0.signedAt = Int64(number) }
    }
    let other = Array("a receipt of the app".utf8)
    let response = Array("an archived response".utf8)
    let renewals = try [Int64(1_000), 2_000].map { moment in
      try RenewalSample("1").with {
        $0.signedAt = moment; $0.autoRenews = moment == 2_000
      }.signed()
    }
    let facts = [
      try TransactionSample("1", "1").signed(), try AppTransactionSample("900").signed(),
      try apps[0].signed(),
    ]
    calls = [
      Call(facts: facts, account: "alice"),
      Call(facts: [renewals[0]], account: "alice", disposition: .superseded),
      Call(
        facts: [renewals[1]], account: "alice", notification: notification(1, "DID_RENEW")),
      Call(facts: try Self.purchases(in: Self.receipt), account: "bob"),
      Call(
        facts: [
          try apps[1].signedByReceipt(other),
          try TransactionSample("12", "12").signedByReceipt(other),
        ], account: "bob"),
      Call(
        facts: [
          try apps[2].archived(response), try TransactionSample("13", "13").archived(response),
        ], account: "bob"),
      Call(facts: [try apps[3].signed(), try TransactionSample("14", "14").signed()]),
      Call(
        facts: [try apps[4].signed()], notification: notification(2, "TEST")),
    ]
    appTransactions = calls.flatMap(\.facts).compactMap { signed in
      guard case .appTransaction(let fact) = signed.fact, fact.appTransactionID == nil else {
        return nil
      }
      return .appTransaction(fact.identity)
    }
  }

  private static func purchases(
    in document: [UInt8], signedAt moment: Int64 = 1_000
  ) throws -> [SignedFact] {
    try ["10", "11"].map { id in
      try TransactionSample(id, id).with { $0.signedAt = moment }.signedByReceipt(document)
    }
  }

  package func fill(_ store: any EntitlementStore) async throws {
    for call in calls {
      let receipt = try await submit(call, to: store)
      try expectEqual(Set(receipt.dispositions).isSubset(of: [.added, .replaced]), true)
    }
    // Events of an app transaction without an account.
    let last = try unwrap(appTransactions.last, "an app transaction")
    try await store.done(.link(last, to: "carol"))
    try await store.done(.unlink(last))
  }

  private func submit(
    _ call: Call, to store: any EntitlementStore
  ) async throws -> CommitReceipt {
    try await store.submit(call.facts, by: call.account, notification: call.notification)
  }

  package func answers(of store: any EntitlementStore) async throws -> Answers {
    var answers = Answers()
    for account: AccountID in ["alice", "bob", "carol"] {
      answers.exports.append(try await store.export(account, in: readerScope))
      let customer = try await store.customer(.account(account), in: readerScope)
      answers.customers.append(Set(customer.record.facts))
    }
    for fact in calls.flatMap(\.facts) {
      answers.facts.append(try await store.signedFact(fact.fact.key, in: readerScope))
    }
    for call in calls {
      guard let notification = call.notification else { continue }
      answers.notifications.append(try await store.notification(notification.record.uuid))
    }
    for case .appTransaction(let id) in appTransactions {
      let record = try await store.customer(.appTransaction(id), in: readerScope).record
      answers.customers.append(Set(record.facts))
      answers.owners.append(record.accountID)
      answers.histories.append(try await store.history(of: .appTransaction(id)))
    }
    answers.feed = try await store.feed()
    return answers
  }

  /// Checks that all answers are the former ones, and that whatever is submitted once more is known:
  /// neither a version nor a revision is new.
  ///
  /// - Throws: ``ConformanceFailure``.
  package func check(_ former: Answers, in store: any EntitlementStore) async throws {
    try expectEqual(former.facts.contains(nil), false, "a fact is missing")
    try expectEqual(former.notifications.contains(nil), false, "a notification is missing")
    try expectEqual(former.owners, ["alice", "bob", "bob", nil, nil], "owners")
    try expectEqual(former.histories.map(\.count), [1, 1, 1, 0, 2], "link events")
    try expectEqual(try await answers(of: store), former, "answers")
    for call in calls {
      let receipt = try await submit(call, to: store)
      let keys = "\(call.facts.map(\.fact.key))"
      try expectEqual(Set(receipt.dispositions), [call.disposition], keys)
      try expectEqual(receipt.changed, [], keys)
      try expectEqual(receipt.notificationWasKnown, call.notification != nil, keys)
    }
    try expectEqual(try await answers(of: store), former, "answers after all was submitted again")
  }

  /// Submits a newer receipt, which leaves the former one without a fact, and a notification.
  package func addNewer(to store: any EntitlementStore) async throws {
    let document = Self.receipt + [0]
    let facts = try Self.purchases(in: document, signedAt: 2_000)
    let told = notification(3, "TEST")
    let receipt = try await store.submit(facts, by: "bob", notification: told)
    try expectEqual(Set(receipt.dispositions), [.replaced])
    for fact in facts {
      try expectEqual(try await store.signedFact(fact.fact.key, in: readerScope), fact)
    }
    try expectEqual(try await store.notification(told.record.uuid), told)
  }
}
