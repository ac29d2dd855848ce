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

  /// - Parameter row: of ``StoreStatement/signedFact``.
  /// - Throws: ``StoreError/Code/corrupt`` when its document is not stored.
  static func proof(_ row: Row) throws -> SignedPayload.Proof {
    guard !row.hasNull(atIndex: 6) else {
      return .jws(header: try row.bytes(5), signature: try row.bytes(4))
    }
    guard !row.hasNull(atIndex: 7) else {
      throw StoreError(.corrupt, "the document of a stored fact is not stored")
    }
    return .document(try row.bytes(7))
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the column holds no kind of fact.
  static func kind(_ row: Row, at index: Int) throws -> FactKind {
    guard let kind = FactKind(rawValue: row[index]) else {
      throw StoreError(.corrupt, "a stored fact is of an unknown kind")
    }
    return kind
  }

  /// - Parameter row: of ``StoreStatement/signedFact`` or one with its columns.
  /// - Throws: as ``decode(_:scope:)`` and ``proof(_:)``.
  static func signed(_ row: Row, scope: AppScope) throws -> SignedFact {
    SignedFact(
      fact: try decode(row, scope: scope),
      signed: SignedPayload(payload: try row.bytes(3), proof: try proof(row)))
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
}
