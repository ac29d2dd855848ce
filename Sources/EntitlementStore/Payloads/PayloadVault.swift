package import EntitlementDomain
package import PayloadCompression

/// The compressed form in which a store keeps payloads and documents, with its errors as those of the
/// store. An error names the row by the digest that is stored in it.
package final class PayloadVault: Sendable {
  private let compressor = PayloadCompressor()

  package init() {}

  /// - Parameters:
  ///   - header: for a notification, the header segment of its JWS.
  ///   - texts: for a fact, those of its row.
  /// - Returns: the bytes to store.
  package func stored(
    _ payload: [UInt8], header: [UInt8]? = nil, texts: RowTexts = .none
  ) -> [UInt8] {
    compressor.stored(payload, header: header, texts: texts)
  }

  /// - Parameters:
  ///   - stored: what ``stored(_:header:texts:)`` returned.
  ///   - digest: of the payload, as the row has it.
  ///   - header: for a notification, the header segment of its JWS.
  ///   - texts: for a fact, those of its row.
  /// - Throws: ``StoreError/Code/corrupt`` when the bytes are damaged, have another digest, or need a
  ///   dictionary that this program does not have.
  package func payload(
    of stored: [UInt8], digest: PayloadDigest, header: [UInt8]? = nil, texts: RowTexts = .none
  ) throws(StoreError) -> [UInt8] {
    let payload = try expanded(stored, header: header, texts: texts, digest)
    guard try StoredPayload.digest(of: payload) == digest else { throw Self.damaged(digest) }
    return payload
  }

  /// The bytes to store of a fact that becomes a version, and loses the columns of its row.
  ///
  /// - Returns: the stored bytes as they are if they can be read without the row, or if they cannot be
  ///   read. Reading the version then gives the error.
  /// - Throws: ``StoreError/Code/internalFault`` when hashing fails.
  package func versionForm(of fact: StoredFactPayload) throws(StoreError) -> [UInt8] {
    guard PayloadCompressor.needsTexts(fact.stored) else { return fact.stored }
    do throws(StoreError) {
      return stored(try payload(of: fact.stored, digest: fact.digest, texts: fact.texts))
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
      switch error {
      case .damaged: throw Self.damaged(digest)
      case .unknownDictionary(let number):
        throw StoreError(
          .corrupt,
          "the stored payload with the digest \(digest.hexadecimal) needs dictionary \(number), "
            + "which this program does not have")
      }
    }
  }

  private static func damaged(_ digest: PayloadDigest) -> StoreError {
    StoreError(.corrupt, "the stored payload with the digest \(digest.hexadecimal) is damaged")
  }
}
