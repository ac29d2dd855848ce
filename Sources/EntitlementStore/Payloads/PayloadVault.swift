package import EntitlementDomain
package import PayloadCompression

/// The compressed form in which a store keeps payloads and documents, with its errors as those of the
/// store. An error names the row by the digest that is stored in it.
package final class PayloadVault: Sendable {
  private let compressor = PayloadCompressor()

  package init() {}

  /// Adds dictionaries of the database. Payloads are written with the one of the highest number.
  package func add(_ dictionaries: [PayloadDictionary]) { compressor.add(dictionaries) }

  /// Knows these dictionaries from now on, and the shipped one. For a database whose dictionaries may
  /// be others than before, as after a failover.
  package func replaceDictionaries(with dictionaries: [PayloadDictionary]) {
    compressor.replaceDictionaries(with: dictionaries)
  }

  /// The number of the dictionary that payloads are written with.
  package var currentDictionary: UInt32 { compressor.currentDictionary }

  /// The dictionary that payloads are written with.
  package var current: PayloadDictionary { compressor.current }

  /// - Parameters:
  ///   - header: for a notification, the header segment of its JWS.
  ///   - texts: for a fact, those of its row.
  ///   - dictionary: nil for ``current``.
  /// - Returns: the bytes to store.
  package func stored(
    _ payload: [UInt8], header: [UInt8]? = nil, texts: RowTexts = .none,
    with dictionary: PayloadDictionary? = nil
  ) -> [UInt8] {
    compressor.stored(payload, header: header, texts: texts, with: dictionary)
  }

  /// - Parameters:
  ///   - stored: the stored bytes: compressed, or as they are.
  ///   - digest: that of the payload, which is stored beside it. It is compared where the bytes were
  ///     compressed.
  ///   - header: for a notification, the header segment of its JWS.
  ///   - texts: for a fact, those of its row.
  /// - Throws: ``StoreError/Code/corrupt`` when the bytes are damaged;
  ///   ``StoreError/Code/unknownDictionary`` when the dictionary was not added.
  package func payload(
    of stored: [UInt8], digest: PayloadDigest, header: [UInt8]? = nil, texts: RowTexts = .none
  ) throws(StoreError) -> [UInt8] {
    guard PayloadCompressor.isCompressed(stored) else { return PayloadCompressor.plain(stored) }
    let payload = try expanded(stored, header: header, texts: texts, digest)
    guard try StoredPayload.digest(of: payload) == digest else {
      throw Self.damaged(digest)
    }
    return payload
  }

  /// The bytes to store of a fact that becomes a version, and loses the columns of its row.
  ///
  /// - Returns: the stored bytes as they are if they can be read without the row, or if they are damaged.
  ///   Reading a damaged version gives the error.
  /// - Throws: ``StoreError/Code/unknownDictionary``.
  package func versionForm(
    of fact: StoredFactPayload, with dictionary: PayloadDictionary? = nil
  ) throws(StoreError) -> [UInt8] {
    guard PayloadCompressor.needsTexts(fact.stored) else { return fact.stored }
    do throws(StoreError) {
      let payload = try payload(of: fact.stored, digest: fact.digest, texts: fact.texts)
      return stored(payload, with: dictionary)
    } catch {
      guard error.code == .corrupt else { throw error }
      return fact.stored
    }
  }

  /// The payload of a version of a fact.
  ///
  /// - Throws: as ``payload(of:digest:header:texts:)``.
  package func version(
    of stored: [UInt8], statement: StatementDigest, authority: FactAuthority
  ) throws(StoreError) -> [UInt8] {
    let digest = statement.payloadDigest
    guard PayloadCompressor.isCompressed(stored) else { return PayloadCompressor.plain(stored) }
    let payload = try expanded(stored, digest)
    guard let found = try? StatementDigest(of: payload, authority: authority), found == statement
    else { throw Self.damaged(digest) }
    return payload
  }

  private func expanded(
    _ stored: [UInt8], header: [UInt8]? = nil, texts: RowTexts = .none, _ digest: PayloadDigest
  ) throws(StoreError) -> [UInt8] {
    do throws(PayloadCompressionError) {
      return try compressor.payload(of: stored, header: header, texts: texts)
    } catch {
      guard case .unknownDictionary(let number) = error else { throw Self.damaged(digest) }
      throw StoreError(
        .unknownDictionary,
        "the payload with the digest \(digest.hexadecimal) needs dictionary \(number), which "
          + "is not stored")
    }
  }

  private static func damaged(_ digest: PayloadDigest) -> StoreError {
    StoreError(.corrupt, "the stored payload with the digest \(digest.hexadecimal) is damaged")
  }
}
