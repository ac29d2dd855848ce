import EntitlementDomain

/// Facts as a store keeps them: of each the standing version only.
struct KeptFacts {
  private struct Key: Hashable {
    let scope: AppScope
    let fact: FactKey
  }

  private var standing: [Key: Fact] = [:]

  var facts: [Fact] { Array(standing.values) }

  mutating func add(_ batch: some Sequence<Fact>) {
    for fact in batch {
      let key = Key(scope: fact.scope, fact: fact.key)
      if let known = standing[key], known.precedence >= fact.precedence { continue }
      standing[key] = fact
    }
  }
}
