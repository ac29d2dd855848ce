package import EntitlementDomain

/// A payload that the App Store signed and that the policy accepts, not made into facts yet.
package struct AuthenticPayload: Sendable {
  package let claims: PayloadClaims
  /// The payload's JSON.
  package let document: JSONDocument
  package let signed: SignedPayload
  let fields: PayloadFields
  /// The signed payloads inside a notification, each authentic too, in the order transaction,
  /// renewal info, app transaction.
  package let inner: [AuthenticPayload]
  /// What vouches for it and for those inside it, each chain once.
  package let chains: [CertificateChain]

  package var kind: SignedKind { claims.kind }
}
