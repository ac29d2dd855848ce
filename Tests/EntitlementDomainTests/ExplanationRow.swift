import EntitlementDomain
import Testing

/// A customer, a question about one entitlement or group, and the expected decision.
struct ExplanationRow: Sendable, CustomTestStringConvertible {
  enum Subject: Sendable {
    case entitlement(EntitlementID)
    case group(SubscriptionGroupID)
  }

  let name: String
  let subject: Subject
  let isConferred: Bool
  let rule: Rule
  /// The expected part of the sentence.
  let words: [String]
  let record: CustomerRecord
  let catalog: Catalog
  let moment: Milliseconds

  var testDescription: String { "\(rule): \(name)" }

  /// - Parameters:
  ///   - moment: in days.
  ///   - facts: other facts than transactions and renewal infos.
  init(
    _ name: String, _ subject: Subject, _ isConferred: Bool, _ rule: Rule, _ words: [String],
    at moment: Double, _ transactions: [TransactionFact] = [], _ renewals: [RenewalInfoFact] = [],
    apps: [AppTransactionFact] = [], grants: [Grant] = [], catalog: Catalog = Given.catalog
  ) {
    self.name = name
    self.subject = subject
    self.isConferred = isConferred
    self.rule = rule
    self.words = words
    self.catalog = catalog
    self.moment = Given.day(moment)
    var record = Given.record(transactions, renewals)
    record.facts += apps.map { .appTransaction($0) }
    record.grants = grants
    self.record = record
  }

  func explanation() -> Explanation {
    Evaluation.explain(record, catalog: catalog, at: moment)
  }

  /// The part of the explanation that answers the question.
  func answer() -> (isConferred: Bool, reasoning: Reasoning)? {
    let explanation = explanation()
    switch subject {
    case .entitlement(let id):
      return explanation.entitlements.first { $0.entitlementID == id }.map {
        ($0.isConferred, $0.reasoning)
      }
    case .group(let id):
      return explanation.groups.first { $0.groupID == id }.map {
        ($0.status == .active || $0.status == .grace, $0.reasoning)
      }
    }
  }
}

extension Given {
  /// By default a period of 10 days that is signed at its start.
  static func grant(
    _ id: Int, of entitlement: EntitlementID = "pro", from start: Double, to end: Double? = nil,
    withdrawnAt: Double? = nil
  ) -> Grant {
    Grant(
      id: GrantID("00000000-0000-4000-8000-\(String(id + 100_000_000_000))"), scope: scope,
      accountID: "customer", entitlementID: entitlement, starts: day(start),
      expires: day(end ?? start + 10), reason: "an apology", author: "support",
      createdAt: day(start),
      withdrawal: withdrawnAt.map {
        GrantWithdrawal(at: day($0), author: "support", reason: "a mistake")
      })
  }

  /// An app transaction with a purchase date in days after the start.
  static func app(_ id: String = "a1", version: String? = nil, at date: Double? = nil)
    -> AppTransactionFact
  {
    var fact = AppTransactionFact(
      bundleID: scope.bundleID, environment: scope.environment, signedDate: day(50),
      digest: digest(11))
    fact.appTransactionID = AppTransactionID(id)
    fact.originalApplicationVersion = version
    fact.originalPurchaseDate = date.map { day($0) }
    fact.originalPlatform = "iOS"
    return fact
  }

  /// The catalog with a rule that confers `pro` before build 108 and day 0.
  static func catalogWithRule(
    thresholds: [AppPlatform: AppVersion] = [.iOS: AppVersion("108")].compactMapValues { $0 }
  ) -> Catalog {
    var catalog = catalog
    catalog.grandfathering[scope.bundleID] = [
      GrandfatheringRule(
        id: "paid-era", bundleID: scope.bundleID, entitlements: ["pro"], thresholds: thresholds,
        cutoff: day(0))
    ]
    return catalog
  }
}
