/// What the App Store is told about an offer, before it is signed.
package struct OfferStatement: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// A promotional offer for StoreKit 1 and 2 ("Generating a signature for promotional offers").
    /// Without a token, the app sets none at the purchase.
    case promotionalV1(OfferID, AppAccountToken?)
    /// A promotional offer as a JWS ("Generating JWS to sign App Store requests"). The transaction
    /// names the customer; Apple recommends it.
    case promotionalV2(OfferID, transactionID: String?)
    /// Whether a customer may have an introductory offer, as a JWS. The transaction is required.
    case introductory(isAllowed: Bool, transactionID: String)
  }

  package let app: BundleID
  package let productID: ProductID
  package let content: Content

  package init(app: BundleID, productID: ProductID, content: Content) {
    self.app = app
    self.productID = productID
    self.content = content
  }
}

/// A signed ``OfferStatement``. It is worth money to its holder, and is in no log.
package struct OfferSignature: Hashable, Sendable {
  /// V1: DER in base64. V2: a JWS in the compact form.
  package let text: String
  package let keyID: String
  /// A random UUID in lower case. The App Store accepts it once.
  package let nonce: String
  /// When it was signed. A JWS has whole seconds.
  package let signedAt: Milliseconds
  /// The end of its validity, where Apple states one: V1 is valid for 24 hours. Nil for a JWS, whose
  /// end Apple computes from `iat` by a rule that it does not publish.
  package let expiresAt: Milliseconds?

  package init(
    text: String, keyID: String, nonce: String, signedAt: Milliseconds, expiresAt: Milliseconds?
  ) {
    self.text = text
    self.keyID = keyID
    self.nonce = nonce
    self.signedAt = signedAt
    self.expiresAt = expiresAt
  }
}

/// A statement cannot be signed: the key failed, or no signature can state it clearly.
package struct OfferSigningFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Shows nothing of the key and of the statement.
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
