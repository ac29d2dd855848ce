/// The facts considered, the rule that decided, and what would change it.
public struct Reasoning: Hashable, Sendable {
  public var decision: Decision
  /// What could have decided: what did first; then by kind, the latest first, then by id. At most
  /// 50 are listed: what decided, and of the rest the most recent.
  public var considered: [ConsideredItem]
  /// The known moments at which it changes by itself, earliest first and five at most, then what
  /// new facts may do.
  public var changes: [ExpectedChange]

  public init(decision: Decision, considered: [ConsideredItem], changes: [ExpectedChange]) {
    self.decision = decision
    self.considered = considered
    self.changes = changes
  }
}

/// A rule, and what it says here in a sentence for people.
public struct Decision: Hashable, Sendable {
  public var rule: Rule
  public var sentence: String

  public init(rule: Rule, sentence: String) {
    self.rule = rule
    self.sentence = sentence
  }
}

/// What would change an answer.
public struct ExpectedChange: Hashable, Sendable {
  /// The moment, where time alone changes it; nil: when a fact, a grant or a catalog says so.
  public var at: Milliseconds?
  public var decision: Decision

  public init(at: Milliseconds?, decision: Decision) {
    self.at = at
    self.decision = decision
  }
}
