package import EntitlementDomain
package import EntitlementStore
package import Verification

/// Signed transactions, renewal infos and app transactions to submit.
package struct TransactionSubmission: Sendable {
  /// Each a JWS in compact form.
  package var signedPayloads: [[UInt8]]
  /// The app that every payload must belong to; nil: any app of the catalog. The app of a renewal
  /// info is always that of its chain's transactions.
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

/// A signed notification to submit.
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

/// A legacy app receipt to submit.
package struct ReceiptSubmission: Sendable {
  /// DER, or its standard base64.
  package var receipt: [UInt8]
  /// The device that the receipt must be issued for; nil: not checked.
  package var deviceIdentifier: [UInt8]?
  /// The app that the receipt must belong to; nil: any app of the catalog.
  package var bundleID: BundleID?
  /// The account that the caller names as the owner of all purchases (R42, R44).
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

/// An archived response of `verifyReceipt` to import. Its priority is always bulk.
package struct ArchiveSubmission: Sendable {
  /// The JSON of the response.
  package var response: [UInt8]
  /// The app that the response must belong to. Required, as the response is not signed.
  package var bundleID: BundleID
  /// The account that owns the purchases. It gets the unlinked ones, and none of another account.
  package var accountID: AccountID?
  package var caller: AuditCaller

  package init(
    response: [UInt8], bundleID: BundleID, accountID: AccountID? = nil,
    caller: AuditCaller = .server
  ) {
    self.response = response
    self.bundleID = bundleID
    self.accountID = accountID
    self.caller = caller
  }
}
