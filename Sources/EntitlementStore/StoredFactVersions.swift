package import EntitlementDomain

/// Collects the stored histories and payloads of a customer's facts, and makes versions of them.
package struct StoredFactVersions {
  private var histories: [FactKey: FactHistory] = [:]
  private var others: [FactKey: [StatementDigest: Fact]] = [:]
  /// The standing versions that other statements complete, without these, and the others.
  private var completed: [FactKey: (standing: Fact, supplement: FactSupplement)] = [:]

  package init() {}

  package mutating func add(_ history: FactHistory, of fact: FactKey) {
    histories[fact] = history
  }

  /// Adds a version that does not stand.
  package mutating func add(_ fact: Fact, statement: StatementDigest) {
    others[fact.key, default: [:]][statement] = fact
  }

  package mutating func add(_ supplement: FactSupplement, completing standing: Fact) {
    completed[standing.key] = (standing, supplement)
  }

  /// The versions of the facts that have several, or several signing moments.
  ///
  /// - Parameter facts: the standing facts.
  /// - Throws: ``StoreError/Code/corrupt`` when the payload of a version is not stored.
  package func versions(of facts: [Fact]) throws(StoreError) -> [FactVersion] {
    var versions: [FactVersion] = []
    for standing in facts {
      guard let history = histories[standing.key] else { continue }
      let completed = completed[standing.key]
      let standing = completed?.standing ?? standing
      // It may be one of the versions that are not kept.
      if let supplement = completed?.supplement { versions.append(supplement.version) }
      for (statement, moments) in history.versions.sorted(by: { $0.key < $1.key }) {
        guard
          var fact = statement == history.standing ? standing : others[standing.key]?[statement]
        else { throw StoreError(.corrupt, "a version of a stored fact is not stored") }
        fact.digest = statement.payloadDigest
        versions.append(
          FactVersion(fact: fact, moments: moments, stands: statement == history.standing))
      }
    }
    return versions
  }
}
