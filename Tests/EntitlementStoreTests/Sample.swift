import EntitlementDomain
import EntitlementStore

/// Facts to submit. They are not verified, and not decoded from their payloads.
enum Sample {
  static let scope = AppScope(bundleID: "com.example.reader", environment: .production)
  static let now: Milliseconds = 1_000_000
  /// A time after the period of every transaction.
  static let late: Milliseconds = 9_000_000_000

  static let caller = AuditCaller(peer: "unix", name: "operator")

  static func catalog(
    _ policy: LinkPolicy, claimsPerDay: Int = CatalogApp.defaultClaimsPerDay,
    claimsPerPurchase: Int = .max
  ) -> Catalog {
    Catalog(apps: [
      CatalogApp(
        bundleID: scope.bundleID, linkPolicies: [.production: policy, .sandbox: policy],
        claimsPerDay: claimsPerDay, claimsPerPurchase: claimsPerPurchase)
    ])
  }

  /// A period of 30 days that is in force at ``now``, and not at ``late``.
  static func transaction(
    _ id: TransactionID, _ chain: OriginalTransactionID, version: Int64 = 0,
    in scope: AppScope = Self.scope, change: (inout TransactionFact) -> Void = { _ in }
  ) -> SignedFact {
    var fact = TransactionFact(
      bundleID: scope.bundleID, environment: scope.environment, originalTransactionID: chain,
      transactionID: id, productID: "com.example.reader.monthly", type: .autoRenewable,
      purchaseDate: 0, signedDate: Milliseconds(version),
      digest: digest("\(id)/\(chain)/\(version)"))
    fact.expiresDate = 2_592_000_000
    fact.ownership = .purchased
    change(&fact)
    return signed(.transaction(fact))
  }

  static func appTransaction(
    _ id: AppTransactionID, version: Int64 = 0, in scope: AppScope = Self.scope
  ) -> SignedFact {
    var fact = AppTransactionFact(
      bundleID: scope.bundleID, environment: scope.environment, signedDate: Milliseconds(version),
      digest: digest("app \(id)/\(version)"))
    fact.appTransactionID = id
    return signed(.appTransaction(fact))
  }

  static func grant(
    _ id: GrantID, to account: AccountID, at: Milliseconds = now, in scope: AppScope = Self.scope
  ) -> Grant {
    Grant(
      id: id, scope: scope, accountID: account, entitlementID: "pro", starts: at, reason: "gift",
      author: "operator", createdAt: at)
  }

  static func notification(_ uuid: NotificationUUID, type: String = "REFUND") -> SignedNotification
  {
    SignedNotification(
      record: NotificationRecord(
        uuid: uuid, type: type, scope: scope, signedDate: now, digest: digest("\(uuid)")),
      signed: SignedPayload(header: [1], payload: Array("{}".utf8), signature: [2]))
  }

  /// As read from an unsigned archived response.
  static func unsigned(_ fact: SignedFact, document: String = "response") -> SignedFact {
    var fact = fact
    fact.fact.authority = .archivedResponse
    fact.signed.proof = .document(Array(document.utf8))
    return fact
  }

  /// The payload tells facts apart that differ in more than the signing date, and the digest depends
  /// on the whole payload.
  private static func signed(_ fact: Fact) -> SignedFact {
    var statement = fact
    statement.digest = digest("")
    if case .transaction(var transaction) = statement {
      transaction.signedDate = 0
      statement = .transaction(transaction)
    }
    let payload = """
      {"statement":"\(digest("\(statement)").hexadecimal)",\
      "signedDate":\(fact.precedence.signedDate)}
      """
    var fact = fact
    fact.digest = digest(payload)
    return SignedFact(
      fact: fact,
      signed: SignedPayload(header: [1], payload: Array(payload.utf8), signature: [2]))
  }

  /// Two rounds of FNV-1a, so that every byte of the text counts.
  static func digest(_ text: String) -> PayloadDigest {
    func hash(_ start: UInt64) -> UInt64 {
      text.utf8.reduce(0xcbf2_9ce4_8422_2325 &+ start) {
        ($0 ^ UInt64($1)) &* 0x100_0000_01b3
      }
    }
    return PayloadDigest(words: (hash(0), hash(1)))
  }
}

extension CommitReceipt {
  var subjects: [CustomerSubject] { customers.map(\.subject) }
}

extension LinkAnswer {
  /// Nil when refused.
  var receipt: LinkReceipt? {
    guard case .done(let receipt) = self else { return nil }
    return receipt
  }
}

func account(_ id: AccountID) -> CustomerSubject { .account(Sample.scope, id) }

func unlinked(_ chain: OriginalTransactionID) -> CustomerSubject {
  .unlinkedChain(Sample.scope, chain)
}
