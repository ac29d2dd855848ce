import EntitlementDomain

/// What was considered, what decided and what would change it, in JSON: the fields of
/// `entitle.v1.Reasoning`.
struct ReasoningDocument: Encodable {
  let decision: Ruling
  let considered: [Item]
  let changes: [Change]

  struct Ruling: Encodable {
    /// 19 is R19.
    let rule: Int
    let sentence: String

    init(_ decision: Decision) {
      rule = decision.rule.number
      sentence = decision.sentence
    }
  }

  struct Item: Encodable {
    let kind: String
    let identifier: String
    let productId: String?
    let statedAtMs: Int64?
    let decisive: Bool
    let decision: Ruling
  }

  struct Change: Encodable {
    let atMs: Int64?
    let decision: Ruling
  }

  init(_ reasoning: Reasoning) {
    decision = Ruling(reasoning.decision)
    considered = reasoning.considered.map { item in
      Item(
        kind: wireName(item.kind), identifier: item.identifier,
        productId: item.productID?.rawValue, statedAtMs: item.statedAt?.rawValue,
        decisive: item.isDecisive, decision: Ruling(item.decision))
    }
    changes = reasoning.changes.map { change in
      Change(atMs: change.at?.rawValue, decision: Ruling(change.decision))
    }
  }
}
