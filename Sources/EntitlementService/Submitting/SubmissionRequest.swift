package import EntitlementDomain
package import Verification

/// Signed payloads that a caller hands in: transactions, renewal infos and app transactions.
package struct TransactionSubmission: Sendable {
  /// JWS in compact form.
  package var signedPayloads: [[UInt8]]
  /// The app that every payload must belong to; nil: any app of the catalog. A renewal info
  /// belongs to that of its chain's transactions, whatever this says.
  package var bundleID: BundleID?
  /// The account that the caller names as the owner (R42, R44).
  package var accountID: AccountID?
  package var priority: WorkPriority

  package init(
    signedPayloads: [[UInt8]], bundleID: BundleID? = nil, accountID: AccountID? = nil,
    priority: WorkPriority = .interactive
  ) {
    self.signedPayloads = signedPayloads
    self.bundleID = bundleID
    self.accountID = accountID
    self.priority = priority
  }
}

/// A signed notification that a caller hands in.
package struct NotificationSubmission: Sendable {
  package var signedPayload: [UInt8]
  package var accountID: AccountID?
  package var priority: WorkPriority

  package init(
    signedPayload: [UInt8], accountID: AccountID? = nil, priority: WorkPriority = .interactive
  ) {
    self.signedPayload = signedPayload
    self.accountID = accountID
    self.priority = priority
  }
}

/// A legacy app receipt that a caller hands in.
package struct ReceiptSubmission: Sendable {
  /// DER, or the standard base64 of it.
  package var receipt: [UInt8]
  /// The device that it must have been made for; nil: not checked.
  package var deviceIdentifier: [UInt8]?
  /// The app that it must be of; nil: any app of the catalog.
  package var bundleID: BundleID?
  /// The account that the caller names as the owner of all of it (R42, R44).
  package var accountID: AccountID?
  package var priority: WorkPriority

  package init(
    receipt: [UInt8], deviceIdentifier: [UInt8]? = nil, bundleID: BundleID? = nil,
    accountID: AccountID? = nil, priority: WorkPriority = .interactive
  ) {
    self.receipt = receipt
    self.deviceIdentifier = deviceIdentifier
    self.bundleID = bundleID
    self.accountID = accountID
    self.priority = priority
  }
}

/// A response of `verifyReceipt` that an operator hands in. Always bulk work.
package struct ArchiveSubmission: Sendable {
  /// The JSON that Apple answered, when it still did.
  package var response: [UInt8]
  /// The app that it must be of. The operator says it, as nobody signed it.
  package var bundleID: BundleID
  /// The account that owns the purchases: links those that have none, and takes none from another
  /// account.
  package var accountID: AccountID?

  package init(response: [UInt8], bundleID: BundleID, accountID: AccountID? = nil) {
    self.response = response
    self.bundleID = bundleID
    self.accountID = accountID
  }
}
