import EntitlementDomain
import EntitlementStore

/// Decodes facts from their rows.
enum PostgresStoredFact {
  /// - Parameter firstColumn: `kind`, followed by `authority`, `digest`, `payload` and the columns of
  ///   ``Targets/rowTexts(of:)``.
  /// - Throws: ``StoreError/Code/corrupt`` when the payload cannot be read or belongs to another scope.
  static func decode(
    _ rows: PostgresRows, _ row: Int, firstColumn: Int, scope: AppScope, vault: PayloadVault
  ) throws(StoreError) -> Fact {
    let digest = try rows.digest(row, firstColumn + 2)
    return try StoredFact.decode(
      kind: try rows.factKind(row, firstColumn),
      authority: try rows.authority(row, firstColumn + 1), digest: digest,
      payload: try vault.payload(
        of: try rows.data(row, firstColumn + 3), digest: digest,
        texts: try rows.rowTexts(row, firstColumn + 4)),
      scope: scope, identifier: try rows.unpacked(row, firstColumn + 4))
  }

  /// - Throws: ``StoreError/Code/corrupt`` when it cannot be decoded or is of another scope.
  static func supplement(
    _ rows: PostgresRows, _ row: Int, _ column: Int, of fact: Fact
  ) throws(StoreError) -> FactSupplement? {
    guard let payload = try rows.optionalData(row, column) else { return nil }
    return try FactSupplement(payload: payload, completing: fact.authority, of: fact)
  }

  /// Decodes a fact with its proof.
  ///
  /// - Parameters:
  ///   - row: begins with `ReadStatements.factColumns`.
  ///   - header: returns the bytes of the JWS header, or nil when they are not stored.
  ///   - document: returns the document with a digest, or nil when it is not stored.
  static func signed(
    _ rows: PostgresRows, _ row: Int, scope: AppScope, vault: PayloadVault,
    header: () throws(StoreError) -> [UInt8]?,
    document: (PayloadDigest) throws(StoreError) -> [UInt8]?
  ) throws(StoreError) -> SignedFact {
    let digest = try rows.digest(row, 2)
    let payload = try vault.payload(
      of: try rows.data(row, 3), digest: digest, texts: try rows.rowTexts(row, 6))
    return SignedFact(
      fact: try StoredFact.decode(
        kind: try rows.factKind(row, 0), authority: try rows.authority(row, 1), digest: digest,
        payload: payload, scope: scope, identifier: try rows.unpacked(row, 6)),
      signed: SignedPayload(
        payload: payload,
        proof: try proof(rows, row, header: header, document: document)))
  }

  private static func proof(
    _ rows: PostgresRows, _ row: Int, header: () throws(StoreError) -> [UInt8]?,
    document: (PayloadDigest) throws(StoreError) -> [UInt8]?
  ) throws(StoreError) -> SignedPayload.Proof {
    guard let digest = try rows.optionalDigest(row, 5) else {
      guard let header = try header() else {
        throw StoreError(.corrupt, "the header of a stored fact is not stored")
      }
      return .jws(header: header, signature: try rows.data(row, 4))
    }
    guard let bytes = try document(digest) else {
      throw StoreError(.corrupt, "the document of a stored fact is not stored")
    }
    return .document(bytes)
  }
}
