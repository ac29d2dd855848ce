import EntitlementDomain
import EntitlementService
import JSONDocuments
import Verification

// What became of submissions, as `entitlectl submit` and `entitlectl notification submit` tell it.

extension AnswerValue {
  init(_ result: SubmissionResult) {
    self = .object(["results": .list(result.items.map { AnswerValue($0) })])
  }

  init(_ result: NotificationResult) throws {
    var members: [String: AnswerValue] = [
      "verdict": .text(result.verdict.name), "duplicate": .boolean(result.wasKnown),
      "results": .list(result.items.map { AnswerValue($0) }),
      "events": .list(try result.events.map { try AnswerValue(FeedEventDocument($0)) }),
    ]
    members["reason"] = result.detail.map { .text($0) }
    self = .object(members)
  }

  private init(_ item: ItemResult) {
    var members: [String: AnswerValue] = ["verdict": .text(item.verdict.name)]
    members["kind"] = item.kind.map { .text($0.answerName) }
    members["reason"] = item.detail.map { .text($0) }
    members["disposition"] = item.disposition.map { .text(wireName($0)) }
    members["link"] = item.link.map { .text(wireName($0)) }
    members["original_transaction_id"] = item.originalTransactionID.map { .text($0.rawValue) }
    members["transaction_id"] = item.transactionID.map { .text($0.rawValue) }
    self = .object(members)
  }

  /// Which rule decided, by id.
  init(_ explanation: Explanation) {
    func rules(_ decisions: [(String, Rule)]) -> AnswerValue {
      .object(Dictionary(decisions.map { ($0, .text("\($1)")) }) { first, _ in first })
    }
    self = .object([
      "entitlements": rules(
        explanation.entitlements.map {
          ($0.entitlementID.rawValue, $0.reasoning.decision.rule)
        }),
      "groups": rules(
        explanation.groups.map { ($0.groupID.rawValue, $0.reasoning.decision.rule) }),
    ])
  }
}

extension SignedKind {
  fileprivate var answerName: String {
    switch self {
    case .transaction: "TRANSACTION"
    case .renewalInfo: "RENEWAL_INFO"
    case .appTransaction: "APP_TRANSACTION"
    case .notification: "NOTIFICATION"
    }
  }
}
