import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@Suite("Versions of a fact (R53)")
struct FactHistoryTests {
  private static func digest(_ payload: String) throws -> StatementDigest {
    try StatementDigest(of: Array(payload.utf8), authority: .signedTransaction)
  }

  @Test(
    "What differs with each signing, the order of members and white space do not count",
    arguments: [
      #"{"a":1,"b":"x","signedDate":7}"#, #"{"b":"x","a":1}"#, #"{ "a" : 1, "b" : "x" }"#,
      #"{"deviceVerification":"q","a":1,"deviceVerificationNonce":"r","b":"x"}"#,
    ])
  func sameStatement(payload: String) throws {
    #expect(try Self.digest(payload) == Self.digest(#"{"a":1,"b":"x"}"#))
  }

  @Test(
    "Everything else counts",
    arguments: [
      #"{"a":2,"b":"x"}"#, #"{"a":1,"b":"y"}"#, #"{"a":1}"#, #"{"a":1,"b":"x","c":null}"#,
      #"{"a":1,"b":{"signedDate":7}}"#, #"{"a":1,"b":"x","d":{"signedDate":7}}"#,
      #"{"a":"1","b":"x"}"#,
    ])
  func otherStatement(payload: String) throws {
    #expect(try Self.digest(payload) != Self.digest(#"{"a":1,"b":"x"}"#))
  }

  @Test("The authority counts, and other text than a JSON object is an error")
  func authorityAndErrors() throws {
    let payload = Array(#"{"a":1}"#.utf8)
    #expect(
      try StatementDigest(of: payload, authority: .receipt)
        != StatementDigest(of: payload, authority: .archivedResponse))
    for text in ["", "[1]", "{", "7"] {
      #expect(throws: StoreError.self) { try Self.digest(text) }
    }
  }

  @Test("A history is stored in bytes and read again")
  func encoding() throws {
    var history = FactHistory(standing: try Self.digest(#"{"a":1}"#), signedAt: 5)
    #expect(history.isSingle)
    history.add(try Self.digest(#"{"a":2}"#), signedAt: -3, stands: false)
    history.add(try Self.digest(#"{"a":1}"#), signedAt: Milliseconds(.max), stands: true)
    #expect(!history.isSingle)
    let encoded = history.encoded
    #expect(try FactHistory(encoded: encoded) == history)
    for length in 1..<encoded.count where length != 16 + 1 + 2 * 8 {
      #expect(throws: StoreError.self) {
        try FactHistory(encoded: Array(encoded.prefix(length)))
      }
    }
    #expect(throws: StoreError.self) { try FactHistory(encoded: []) }
  }

  @Test("What is kept of many versions does not depend on the order in which they came (R3)")
  func orders() throws {
    var random = SeededRandom(for: "orders of versions")
    for _ in 0..<30 {
      let count = Int.random(in: 2...3 * FactHistory.limit, using: &random)
      let statements = try (0..<count).map { try Self.digest("{\"a\":\($0)}") }
      var all = Set<Statement>()
      for _ in 0..<count * 3 {
        all.insert(
          Statement(
            statement: statements.randomElement(using: &random) ?? statements[0],
            moment: Milliseconds(Int64.random(in: 0..<400, using: &random))))
      }
      let ordered = all.sorted { $0.precedes($1) }
      let expected = Self.history(of: ordered)
      #expect(expected.standing == ordered.last?.statement)
      #expect(expected.versions[ordered[0].statement]?.first == ordered[0].moment)
      #expect(expected.versions.count <= FactHistory.limit + 2)
      for _ in 0..<4 {
        #expect(Self.history(of: all.shuffled(using: &random)) == expected)
      }
    }
  }

  private struct Statement: Hashable {
    let statement: StatementDigest
    let moment: Milliseconds

    func precedes(_ other: Statement) -> Bool {
      (moment, statement) < (other.moment, other.statement)
    }
  }

  /// Adds statements in their order, as a ledger does.
  private static func history(of statements: [Statement]) -> FactHistory {
    var standing = statements[0]
    var history = FactHistory(standing: standing.statement, signedAt: standing.moment)
    for statement in statements.dropFirst() {
      let stands = standing.precedes(statement)
      if stands { standing = statement }
      history.add(statement.statement, signedAt: statement.moment, stands: stands)
    }
    return history
  }
}
