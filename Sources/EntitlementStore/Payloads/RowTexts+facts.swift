import AppStorePayloads
package import EntitlementDomain
package import PayloadCompression

extension RowTexts {
  /// What the row of a fact holds of its payload, in this order: the id of the fact, the hints, and the
  /// moment of its signature. Stored payloads depend on the order, and on each text.
  ///
  /// Not its chain: that of a fact may change. A version that does not stand has no columns for hints, so
  /// that its payload is stored with ``none``.
  package init(identifier: String, hints: FactHints, signedDate: Milliseconds) {
    self.init([
      identifier, hints.appTransactionID?.rawValue ?? "", hints.appAccountToken?.rawValue ?? "",
      hints.previousChain?.rawValue ?? "",
    ])
    append(signedDate)
  }

  /// Adds an id of the row.
  ///
  /// - Parameter packed: as ``PackedIdentifier``; nil where there is none.
  /// - Throws: ``StoreError/Code/corrupt`` for other bytes. Ids of more than 64 bytes, and whether an id
  ///   that is no number and no UUID is valid UTF-8, are not looked at: no payload leaves these out.
  package mutating func append(packed: UnsafeRawBufferPointer?) throws(StoreError) {
    guard let packed else { return append("") }
    guard !packed.isEmpty,
      append(
        upTo: PackedIdentifier.textLimit(of: packed), { PackedIdentifier.write(packed, to: $0) })
    else { throw PackedIdentifier.unknownForm }
  }

  /// Adds the moment of the signature.
  package mutating func append(_ signedDate: Milliseconds) {
    _ = append(upTo: DecimalDigits.room) { output in
      output.baseAddress.map { DecimalDigits.write(signedDate.rawValue, to: $0) }
    }
  }
}

/// The payload of a fact as its row has it.
package struct StoredFactPayload: Sendable {
  package let stored: [UInt8]
  package let digest: PayloadDigest
  package let texts: RowTexts

  package init(stored: [UInt8], digest: PayloadDigest, texts: RowTexts) {
    self.stored = stored
    self.digest = digest
    self.texts = texts
  }
}

extension FactWrite {
  /// What its row holds of its payload.
  package var rowTexts: RowTexts {
    RowTexts(
      identifier: signed.fact.key.identifier, hints: hints,
      signedDate: signed.fact.precedence.signedDate)
  }
}
