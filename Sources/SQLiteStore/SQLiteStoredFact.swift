import EntitlementDomain
import EntitlementStore
import GRDB

/// Decodes facts. They are stored as signed payloads.
enum SQLiteStoredFact {
  /// - Parameter row: a row that starts with `kind`, `authority`, `digest`, `payload` and the columns of
  ///   `Row.rowTexts(_:)`.
  /// - Throws: ``StoreError/Code/corrupt`` when the payload does not have its digest, cannot be
  ///   decoded or is of another scope.
  static func decode(_ row: Row, scope: AppScope, _ vault: PayloadVault) throws -> Fact {
    try decode(row, payload: payload(row, vault), scope: scope)
  }

  /// - Parameters:
  ///   - row: that of ``decode(_:scope:_:)``, with `supplement` after its columns.
  ///   - fact: what it decodes to.
  /// - Throws: ``StoreError/Code/corrupt`` when it cannot be decoded or is of another scope.
  static func supplement(_ row: Row, of fact: Fact) throws -> FactSupplement? {
    if row.hasNull(atIndex: 9) { return nil }
    return try FactSupplement(
      payload: row.bytes(9), completing: fact.authority, of: fact)
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the payload does not have its digest.
  private static func payload(_ row: Row, _ vault: PayloadVault) throws -> [UInt8] {
    let fact = try payload(row)
    return try vault.payload(of: fact.stored, digest: fact.digest, texts: fact.texts)
  }

  /// - Parameter row: as for ``decode(_:scope:_:)``.
  static func payload(_ row: Row) throws -> StoredFactPayload {
    StoredFactPayload(
      stored: try row.bytes(3), digest: try row.digest(2), texts: try row.rowTexts(4))
  }

  /// Decodes a version that does not stand. Its digest is that of the statement.
  ///
  /// - Parameter row: a row that starts with `kind`, `authority`, `statement`, `payload` and
  ///   `identifier`.
  /// - Throws: as ``decode(_:scope:_:)``.
  static func version(
    _ row: Row, statement: StatementDigest, scope: AppScope, _ vault: PayloadVault
  ) throws -> Fact {
    let payload = try vault.version(
      of: row.bytes(3), statement: statement, authority: authority(row, at: 1))
    return try decode(row, payload, digest: statement.payloadDigest, scope: scope)
  }

  private static func decode(_ row: Row, payload: [UInt8], scope: AppScope) throws -> Fact {
    try decode(row, payload, digest: row.digest(2), scope: scope)
  }

  private static func decode(
    _ row: Row, _ payload: [UInt8], digest: PayloadDigest, scope: AppScope
  ) throws -> Fact {
    try StoredFact.decode(
      kind: try kind(row, at: 0), authority: try authority(row, at: 1), digest: digest,
      payload: payload, scope: scope, identifier: try row.packedText(4))
  }

  private static func proof(
    _ row: Row, _ proofs: inout ProofReader
  ) throws -> SignedPayload.Proof {
    if let document = row[11] as Int64? { return .document(try proofs.document(document)) }
    return .jws(header: try proofs.header(row[10]), signature: try row.bytes(9))
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the kind is not known.
  static func kind(_ row: Row, at index: Int) throws -> FactKind {
    guard let kind = FactKind(rawValue: row[index]) else {
      throw StoreError(.corrupt, "a stored fact is of an unknown kind")
    }
    return kind
  }

  /// - Parameter row: a row with the columns of ``StoreStatement/signedFact``.
  /// - Throws: as ``decode(_:scope:_:)`` and ``ProofReader``.
  static func signed(
    _ row: Row, _ proofs: inout ProofReader, scope: AppScope
  ) throws -> SignedFact {
    let payload = try payload(row, proofs.vault)
    return SignedFact(
      fact: try decode(row, payload: payload, scope: scope),
      signed: SignedPayload(payload: payload, proof: try proof(row, &proofs)))
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the authority is not known.
  static func authority(_ row: Row, at index: Int) throws -> FactAuthority {
    guard let authority = FactAuthority(rawValue: row[index]) else {
      throw StoreError(.corrupt, "a stored fact has an unknown authority")
    }
    return authority
  }
}

extension Database {
  /// - Parameter statement: a statement with the columns that
  ///   ``SQLiteStoredFact/decode(_:scope:_:)`` reads.
  func facts(
    _ statement: StoreStatement, _ arguments: StatementArguments, in scope: AppScope,
    _ vault: PayloadVault
  ) throws -> [Fact] {
    var facts: [Fact] = []
    try forEachRow(statement, arguments) { row in
      let fact = try SQLiteStoredFact.decode(row, scope: scope, vault)
      facts.append(try SQLiteStoredFact.supplement(row, of: fact)?.completing(fact) ?? fact)
    }
    return facts
  }

  /// All facts of the targets linked to an account.
  func signedFacts(
    ofAccount account: Int64, in scope: AppScope, _ proofs: inout ProofReader
  ) throws -> [SignedFact] {
    var facts: [SignedFact] = []
    for statement in [
      StoreStatement.signedFactsOfAccountChains, .signedFactsOfAccountAppTransactions,
    ] {
      try forEachRow(statement, [account]) { row in
        facts.append(try SQLiteStoredFact.signed(row, &proofs, scope: scope))
      }
    }
    return facts
  }
}

extension Database {
  /// The versions of an account's facts that have several versions or signing moments (R53).
  func versions(
    ofAccount account: Int64, _ proofs: inout ProofReader
  ) throws -> [ExportedVersion] {
    var payloads: [FactKey: [StatementDigest: (authority: FactAuthority, signed: SignedPayload)]] =
      [:]
    try forEachRow(.versionsOfAccount, [account]) { row in
      guard let statement = StatementDigest(try row.bytes(3)) else {
        throw StoreError(.corrupt, "a stored version is not complete")
      }
      let fact = try row.factKey(kind: 0, identifier: 1)
      let authority = try SQLiteStoredFact.authority(row, at: 2)
      let proof: SignedPayload.Proof =
        authority == .signedTransaction
        ? .jws(header: try proofs.header(row[6]), signature: try row.bytes(5)) : .document([])
      let payload = try proofs.vault.version(
        of: row.bytes(4), statement: statement, authority: authority)
      payloads[fact, default: [:]][statement] = (
        authority, SignedPayload(payload: payload, proof: proof)
      )
    }
    var histories: [(fact: FactKey, history: FactHistory)] = []
    try forEachRow(.historiesOfAccount, [account]) { row in
      histories.append(
        (try row.factKey(kind: 0, identifier: 1), try FactHistory(encoded: try row.bytes(2))))
    }
    return try [ExportedVersion](histories: histories, payloads: payloads)
  }
}

/// Reads the proofs of facts: JWS headers, legacy receipts and archived responses. Each is read
/// once and shared by all facts of one answer.
struct ProofReader {
  private let database: Database
  /// Expands the payloads that the proofs are of.
  let vault: PayloadVault
  private var headers: [Int64: [UInt8]] = [:]
  private var documents: [Int64: [UInt8]] = [:]

  init(database: Database, vault: PayloadVault) {
    self.database = database
    self.vault = vault
  }

  /// - Throws: ``StoreError/Code/corrupt`` when it is not stored.
  mutating func header(_ id: Int64) throws -> [UInt8] {
    if let bytes = headers[id] { return bytes }
    guard let row = try database.row(.headerBytes, [id]) else {
      throw StoreError(.corrupt, "a header of a signed payload is not stored")
    }
    let bytes = try row.bytes(0)
    headers[id] = bytes
    return bytes
  }

  /// - Throws: ``StoreError/Code/corrupt`` when it is not stored.
  mutating func document(_ id: Int64) throws -> [UInt8] {
    if let bytes = documents[id] { return bytes }
    guard let row = try database.row(.documentBytes, [id]) else {
      throw StoreError(.corrupt, "a document of a fact is not stored")
    }
    let bytes = try vault.payload(of: row.bytes(0), digest: row.digest(1))
    documents[id] = bytes
    return bytes
  }
}
