package import EntitlementDomain

/// Signed payloads that a caller hands in: transactions, renewal infos and app transactions.
package struct TransactionSubmission: Sendable {
  /// JWS in compact form.
  package var signedPayloads: [[UInt8]]
  /// The app that every payload must belong to; nil: any app of the catalog. A renewal info
  /// belongs to that of its chain's transactions, whatever this says.
  package var bundleID: BundleID?
  /// The account that the caller names as the owner (R42, R44).
  package var accountID: AccountID?

  package init(
    signedPayloads: [[UInt8]], bundleID: BundleID? = nil, accountID: AccountID? = nil
  ) {
    self.signedPayloads = signedPayloads
    self.bundleID = bundleID
    self.accountID = accountID
  }
}

/// A signed notification that a caller hands in.
package struct NotificationSubmission: Sendable {
  package var signedPayload: [UInt8]
  package var accountID: AccountID?

  package init(signedPayload: [UInt8], accountID: AccountID? = nil) {
    self.signedPayload = signedPayload
    self.accountID = accountID
  }
}
