package import EntitlementDomain
package import EntitlementStore
package import Workers

/// Signed transactions, renewal infos and app transactions to submit.
package struct TransactionSubmission: Sendable {
  /// Each a JWS in compact form, without repetitions.
  package let signedPayloads: [[UInt8]]
  /// The items of the submission, as indices of their payloads. A repeated item is verified and
  /// stored once.
  package let items: [Int]
  /// The app that every payload must belong to; nil: any app of the catalog. The app of a renewal
  /// info is always that of its chain's transactions.
  package var bundleID: BundleID?
  /// The account that the caller names as the owner (R42, R44).
  package var accountID: AccountID?
  /// The anonymous account that is merged into `accountID` (R75).
  package var anonymousAccountID: AccountID?
  /// Whether the account gets purchases without an owner only (R90).
  package var takesNothing: Bool
  package var priority: WorkPriority
  /// Where the request comes from. Sources take turns.
  package var source: WorkSource
  /// Whether the caller may submit for an app and environment. What Apple signed names them.
  package var permits: @Sendable (AppScope) -> Bool

  /// - Parameter signedPayloads: One for each item. Equal ones are kept once.
  package init(
    signedPayloads: [[UInt8]], bundleID: BundleID? = nil, accountID: AccountID? = nil,
    anonymousAccountID: AccountID? = nil, takesNothing: Bool = false,
    priority: WorkPriority = .interactive, source: WorkSource = .server,
    permits: @escaping @Sendable (AppScope) -> Bool = { _ in true }
  ) {
    self.bundleID = bundleID
    self.accountID = accountID
    self.anonymousAccountID = anonymousAccountID
    self.takesNothing = takesNothing
    self.priority = priority
    var indices: [Payload: Int] = [:]
    var distinct: [[UInt8]] = []
    items = signedPayloads.map { bytes in
      let payload = Payload(bytes: bytes)
      if let index = indices[payload] { return index }
      indices[payload] = distinct.count
      distinct.append(bytes)
      return distinct.count - 1
    }
    self.signedPayloads = distinct
    self.source = source
    self.permits = permits
  }

  /// Hashes all bytes at once. An array hashes each element.
  private struct Payload: Hashable {
    let bytes: [UInt8]

    func hash(into hasher: inout Hasher) {
      bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
  }
}

/// A signed notification to submit.
package struct NotificationSubmission: Sendable {
  package var signedPayload: [UInt8]
  /// The app that the notification must belong to; nil: any app of the catalog.
  package var bundleID: BundleID?
  package var accountID: AccountID?
  package var priority: WorkPriority
  /// Where the request comes from. Sources take turns.
  package var source: WorkSource
  /// Whether the caller may submit for an app and environment. What Apple signed names them.
  package var permits: @Sendable (AppScope) -> Bool

  package init(
    signedPayload: [UInt8], bundleID: BundleID? = nil, accountID: AccountID? = nil,
    priority: WorkPriority = .interactive, source: WorkSource = .server,
    permits: @escaping @Sendable (AppScope) -> Bool = { _ in true }
  ) {
    self.signedPayload = signedPayload
    self.bundleID = bundleID
    self.accountID = accountID
    self.priority = priority
    self.source = source
    self.permits = permits
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
  /// The anonymous account that is merged into `accountID` (R75).
  package var anonymousAccountID: AccountID?
  package var priority: WorkPriority
  /// Where the request comes from. Sources take turns.
  package var source: WorkSource
  /// Whether the caller may submit for an app and environment. What Apple signed names them.
  package var permits: @Sendable (AppScope) -> Bool

  package init(
    receipt: [UInt8], deviceIdentifier: [UInt8]? = nil, bundleID: BundleID? = nil,
    accountID: AccountID? = nil, anonymousAccountID: AccountID? = nil,
    priority: WorkPriority = .interactive, source: WorkSource = .server,
    permits: @escaping @Sendable (AppScope) -> Bool = { _ in true }
  ) {
    self.receipt = receipt
    self.deviceIdentifier = deviceIdentifier
    self.bundleID = bundleID
    self.accountID = accountID
    self.anonymousAccountID = anonymousAccountID
    self.priority = priority
    self.source = source
    self.permits = permits
  }
}

/// An archived response of `verifyReceipt` to import. Its priority is always bulk.
package struct ArchiveSubmission: Sendable {
  /// The JSON of the response.
  package var response: [UInt8]
  /// The app that the response must belong to. Required, as the response is not signed.
  package var bundleID: BundleID
  /// The environment of a response that names none; any other must agree.
  package var environment: StoreEnvironment?
  /// When Apple gave a response without a date of its own.
  package var asOf: Milliseconds?
  /// The account that owns the purchases. It gets the unlinked ones, and none of another account.
  package var accountID: AccountID?
  /// Where the request comes from. Sources take turns.
  package var source: WorkSource
  /// Whether the caller may submit for an app and environment. What Apple signed names them.
  package var permits: @Sendable (AppScope) -> Bool
  package var caller: AuditCaller
  /// The person or tool for whom the caller acts.
  package var onBehalfOf: String?

  package init(
    response: [UInt8], bundleID: BundleID, environment: StoreEnvironment? = nil,
    asOf: Milliseconds? = nil, accountID: AccountID? = nil, source: WorkSource = .server,
    caller: AuditCaller = .server,
    onBehalfOf: String? = nil,
    permits: @escaping @Sendable (AppScope) -> Bool = { _ in true }
  ) {
    self.response = response
    self.bundleID = bundleID
    self.environment = environment
    self.asOf = asOf
    self.accountID = accountID
    self.source = source
    self.permits = permits
    self.caller = caller
    self.onBehalfOf = onBehalfOf
  }
}
