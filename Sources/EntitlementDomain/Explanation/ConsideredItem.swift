/// One fact, grant or rule that was looked at.
public struct ConsideredItem: Hashable, Sendable {
  /// Raw values are those of the wire.
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    case transaction = 1
    case renewalInfo = 2
    case appTransaction = 3
    case grant = 4
    case grandfatheringRule = 5
  }

  public var kind: Kind
  /// Transaction id, chain id, app transaction identity, grant id or rule id.
  public var identifier: String
  public var productID: ProductID?
  /// When Apple signed it, or the operator gave it; nil for a rule.
  public var statedAt: Milliseconds?
  /// It is what the decision rests on.
  public var isDecisive: Bool
  /// What it says for itself.
  public var decision: Decision

  public init(
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
