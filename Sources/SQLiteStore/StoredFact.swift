import EntitlementDomain
import EntitlementStore
import GRDB

/// Facts are kept as what Apple signed, and read from that again.
enum StoredFact {
  /// - Parameter row: `kind`, `authority`, `digest` and `payload`, and whatever follows.
  /// - Throws: ``StoreError/Code/corrupt`` when the payload is not what was stored.
  static func decode(_ row: Row, scope: AppScope) throws -> Fact {
    let kind = try kind(row, at: 0)
    let authority = try authority(row, at: 1)
    var fact: Fact
    do {
      fact = try PayloadDecoder.fact(
        kind: kind, payload: try row.bytes(3), digest: try row.digest(2),
        bundleID: scope.bundleID)
    } catch is PayloadError {
      throw StoreError(.corrupt, "a stored fact cannot be decoded")
    }
    guard fact.scope == scope else {
      throw StoreError(.corrupt, "a stored fact is of another app or environment")
    }
    // A payload does not say how it came: decoding takes it for a JWS.
    fact.authority = authority
    return fact
  }

  private static func proof(
    _ row: Row, _ proofs: inout ProofReader
  ) throws -> SignedPayload.Proof {
    if let document = row[6] as Int64? { return .document(try proofs.document(document)) }
    return .jws(header: try proofs.header(row[5]), signature: try row.bytes(4))
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the column holds no kind of fact.
  static func kind(_ row: Row, at index: Int) throws -> FactKind {
    guard let kind = FactKind(rawValue: row[index]) else {
      throw StoreError(.corrupt, "a stored fact is of an unknown kind")
    }
    return kind
  }

  /// - Parameter row: of ``StoreStatement/signedFact`` or one with its columns.
  /// - Throws: as ``decode(_:scope:)`` and ``ProofReader``.
  static func signed(
    _ row: Row, _ proofs: inout ProofReader, scope: AppScope
  ) throws -> SignedFact {
    SignedFact(
      fact: try decode(row, scope: scope),
      signed: SignedPayload(payload: try row.bytes(3), proof: try proof(row, &proofs)))
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the column holds no authority.
  static func authority(_ row: Row, at index: Int) throws -> FactAuthority {
    guard let authority = FactAuthority(rawValue: row[index]) else {
      throw StoreError(.corrupt, "a stored fact has an unknown authority")
    }
    return authority
  }
}

extension Database {
  /// - Parameter statement: one whose columns ``StoredFact/decode(_:scope:)`` reads.
  func facts(
    _ statement: StoreStatement, _ arguments: StatementArguments, in scope: AppScope
  ) throws -> [Fact] {
    var facts: [Fact] = []
    try forEachRow(statement, arguments) { row in
      facts.append(try StoredFact.decode(row, scope: scope))
    }
    return facts
  }

  /// All facts of what an account owns.
  func signedFacts(
    ofAccount account: Int64, in scope: AppScope, _ proofs: inout ProofReader
  ) throws -> [SignedFact] {
    var facts: [SignedFact] = []
    for statement in [
      StoreStatement.signedFactsOfAccountChains, .signedFactsOfAccountAppTransactions,
    ] {
      try forEachRow(statement, [account]) { row in
        facts.append(try StoredFact.signed(row, &proofs, scope: scope))
      }
    }
    return facts
  }
}
