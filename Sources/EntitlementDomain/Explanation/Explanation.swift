/// The explanation of a customer's state (R31). For each entitlement and each subscription group it
/// has the items that were considered, the decision, and the possible changes. A long explanation is
/// truncated, and says what it leaves out (R31).
public struct Explanation: Hashable, Sendable {
  /// The state that is explained. Truncated if ``omitted`` says so.
  public var state: CustomerState
  /// The entitlements of the catalog, and any other that is conferred, sorted by id. If they are too
  /// many, the conferred ones first.
  public var entitlements: [EntitlementExplanation]
  /// The groups of ``state``, in its order.
  public var groups: [GroupExplanation]
  /// What was left out; nil for a whole explanation.
  public var omitted: ExplanationOmissions?

  public init(
    state: CustomerState, entitlements: [EntitlementExplanation], groups: [GroupExplanation],
    omitted: ExplanationOmissions? = nil
  ) {
    self.state = state
    self.entitlements = entitlements
    self.groups = groups
    self.omitted = omitted
  }
}

/// The numbers of elements that a truncated explanation leaves out (R31).
public struct ExplanationOmissions: Hashable, Sendable {
  /// Entitlements that are not explained.
  public var entitlements: Int
  /// Subscription groups that are not explained, and not in the state.
  public var groups: Int
  /// Products that are not in the state.
  public var products: Int
  /// Conferred entitlements that are not in the state.
  public var stateEntitlements: Int
  /// Sources of the state's entitlements.
  public var sources: Int
  /// Grandfathering rules that are not in the state.
  public var grandfathering: Int

  public init(
    entitlements: Int = 0, groups: Int = 0, products: Int = 0, stateEntitlements: Int = 0,
    sources: Int = 0, grandfathering: Int = 0
  ) {
    self.entitlements = entitlements
    self.groups = groups
    self.products = products
    self.stateEntitlements = stateEntitlements
    self.sources = sources
    self.grandfathering = grandfathering
  }
}

/// Why a customer has or does not have an entitlement.
public struct EntitlementExplanation: Hashable, Sendable {
  /// The entitlement, by its name in the catalog.
  public var entitlementID: EntitlementID
  /// Whether the customer has it now.
  public var isConferred: Bool
  /// The facts considered, the decision, and what would change it.
  public var reasoning: Reasoning

  public init(entitlementID: EntitlementID, isConferred: Bool, reasoning: Reasoning) {
    self.entitlementID = entitlementID
    self.isConferred = isConferred
    self.reasoning = reasoning
  }
}

/// Why a subscription group has its status.
public struct GroupExplanation: Hashable, Sendable {
  /// The subscription group.
  public var groupID: SubscriptionGroupID
  /// The status that is explained.
  public var status: DetailedStatus
  /// The facts considered, the decision, and what would change it.
  public var reasoning: Reasoning

  public init(groupID: SubscriptionGroupID, status: DetailedStatus, reasoning: Reasoning) {
    self.groupID = groupID
    self.status = status
    self.reasoning = reasoning
  }
}

/// A decision with the items that were considered and the possible changes.
public struct Reasoning: Hashable, Sendable {
  /// The rule that decided.
  public var decision: Decision
  /// The items that could have decided. Decisive items come first; the others are sorted by kind,
  /// then the latest first, then by id. At most 50 are listed: the decisive items, and the most
  /// recent of the others.
  public var considered: [ConsideredItem]
  /// At most five known moments of change without new facts, the earliest first; then the possible
  /// effects of new facts.
  public var changes: [ExpectedChange]
  /// How many more items were considered than are listed (R31).
  public var consideredOmitted: Int
  /// The known moments of change are complete up to this moment; later ones may be missing (R31). Nil
  /// when none is missing.
  public var changesCompleteUntil: Milliseconds?

  public init(
    decision: Decision, considered: [ConsideredItem], changes: [ExpectedChange],
    consideredOmitted: Int = 0, changesCompleteUntil: Milliseconds? = nil
  ) {
    self.decision = decision
    self.considered = considered
    self.changes = changes
    self.consideredOmitted = consideredOmitted
    self.changesCompleteUntil = changesCompleteUntil
  }
}

/// The rule that decided, with a sentence that explains the decision.
public struct Decision: Hashable, Sendable {
  /// The rule.
  public var rule: Rule
  /// The decision in English, for people.
  public var sentence: String

  public init(rule: Rule, sentence: String) {
    self.rule = rule
    self.sentence = sentence
  }
}

/// A possible change of an answer.
public struct ExpectedChange: Hashable, Sendable {
  /// The moment of a change by time alone; nil for a change by a new fact, grant or catalog.
  public var at: Milliseconds?
  /// The rule that will decide, and its decision.
  public var decision: Decision

  public init(at: Milliseconds?, decision: Decision) {
    self.at = at
    self.decision = decision
  }
}

/// One fact, grant or rule that was considered.
public struct ConsideredItem: Hashable, Sendable {
  /// Raw values are the numbers on the wire.
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// A transaction.
    case transaction = 1
    /// A renewal info.
    case renewalInfo = 2
    /// An app transaction.
    case appTransaction = 3
    /// An operator's grant.
    case grant = 4
    /// A grandfathering rule.
    case grandfatheringRule = 5
  }

  /// The kind of the item.
  public var kind: Kind
  /// Transaction id, chain id, app transaction identity, grant id or rule id.
  public var identifier: String
  /// The product concerned; nil when it concerns none.
  public var productID: ProductID?
  /// The moment at which Apple signed the fact or the operator gave the grant; nil for a rule.
  public var statedAt: Milliseconds?
  /// Whether the decision depends on this item.
  public var isDecisive: Bool
  /// The decision on this item alone.
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

/// A numbered domain rule, such as R19.
public struct Rule: Hashable, Sendable, CustomStringConvertible {
  /// The number after the R.
  public let number: Int

  public init(_ number: Int) {
    self.number = number
  }

  public var description: String { "R\(number)" }
}

extension Rule: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int) {
    self.init(value)
  }
}
