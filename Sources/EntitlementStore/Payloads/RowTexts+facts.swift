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
      hints.previousChain?.rawValue ?? "", DecimalDigits.text(signedDate.rawValue),
    ])
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
