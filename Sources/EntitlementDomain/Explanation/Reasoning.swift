/// The facts considered, the rule that decided, and what would change it.
package struct Reasoning: Hashable, Sendable {
  package var decision: Decision
  /// What could have decided: what did first; then by kind, the latest first, then by id. At most
  /// 50 are listed: what decided, and of the rest the most recent.
  package var considered: [ConsideredItem]
  /// The known moments at which it changes by itself, earliest first and five at most, then what
  /// new facts may do.
  package var changes: [ExpectedChange]

  package init(decision: Decision, considered: [ConsideredItem], changes: [ExpectedChange]) {
    self.decision = decision
    self.considered = considered
    self.changes = changes
  }
}

/// A rule, and what it says here in a sentence for people.
package struct Decision: Hashable, Sendable {
  package var rule: Rule
  package var sentence: String

  package init(rule: Rule, sentence: String) {
    self.rule = rule
    self.sentence = sentence
  }
}

/// What would change an answer.
package struct ExpectedChange: Hashable, Sendable {
  /// The moment, where time alone changes it; nil: when a fact, a grant or a catalog says so.
  package var at: Milliseconds?
  package var decision: Decision

  package init(at: Milliseconds?, decision: Decision) {
    self.at = at
    self.decision = decision
  }
}
