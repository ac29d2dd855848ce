/// One fact, grant or rule that was looked at.
package struct ConsideredItem: Hashable, Sendable {
  /// Raw values are those of the wire.
  package enum Kind: Int, Hashable, Sendable, CaseIterable {
    case transaction = 1
    case renewalInfo = 2
    case appTransaction = 3
    case grant = 4
    case grandfatheringRule = 5
  }

  package var kind: Kind
  /// Transaction id, chain id, app transaction identity, grant id or rule id.
  package var identifier: String
  package var productID: ProductID?
  /// When Apple signed it, or the operator gave it; nil for a rule.
  package var statedAt: Milliseconds?
  /// It is what the decision rests on.
  package var isDecisive: Bool
  /// What it says for itself.
  package var decision: Decision

  package init(
    kind: Kind, identifier: String, productID: ProductID? = nil, statedAt: Milliseconds? = nil,
    isDecisive: Bool, decision: Decision
  ) {
    self.kind = kind
    self.identifier = identifier
    self.productID = productID
    self.statedAt = statedAt
    self.isDecisive = isDecisive
    self.decision = decision
  }
}
