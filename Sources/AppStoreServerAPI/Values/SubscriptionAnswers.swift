import AppStorePayloads
package import EntitlementDomain

/// The statuses of all auto-renewable subscriptions of a customer.
package struct SubscriptionStatuses: Hashable, Sendable {
  package struct Group: Hashable, Sendable {
    package let subscriptionGroupID: SubscriptionGroupID?
    package let subscriptions: [Subscription]
  }

  package struct Subscription: Hashable, Sendable {
    package let originalTransactionID: OriginalTransactionID
    /// Apple's number, known or unknown (R10).
    package let status: Int64
    /// JWS of the latest transaction, not verified.
    package let signedTransactionInfo: String
    /// JWS, not verified. Nil for a member of a family: Apple's libraries do not require it.
    package let signedRenewalInfo: String?

    /// Nil for a status that is not known.
    package var knownStatus: SubscriptionStatus? { SubscriptionStatus(rawValue: status) }
  }

  package let groups: [Group]
  package let bundleID: BundleID?
  package let appAppleID: Int64?
  /// Apple's name, known or unknown (R10).
  package let environment: String?

  /// Those of all groups.
  package var subscriptions: [Subscription] { groups.flatMap(\.subscriptions) }

  /// The latest transactions, each with its renewal info.
  package var signedPayloads: [String] {
    subscriptions.flatMap { [$0.signedTransactionInfo, $0.signedRenewalInfo].compactMap(\.self) }
  }

  init(_ fields: PayloadFields) throws(PayloadError) {
    var groups: [Group] = []
    for group in try fields.required("data", try fields.objects("data")) {
      var subscriptions: [Subscription] = []
      for item in try group.required("lastTransactions", try group.objects("lastTransactions")) {
        subscriptions.append(try Subscription(item))
      }
      groups.append(
        Group(
          subscriptionGroupID: try group.identifier("subscriptionGroupIdentifier")
            .map(SubscriptionGroupID.init(_:)),
          subscriptions: subscriptions))
    }
    self.groups = groups
    bundleID = try fields.identifier("bundleId").map(BundleID.init(_:))
    appAppleID = try fields.integer("appAppleId")
    environment = try fields.text("environment")
  }
}

extension SubscriptionStatuses.Subscription {
  fileprivate init(_ fields: PayloadFields) throws(PayloadError) {
    originalTransactionID = OriginalTransactionID(
      try fields.requiredIdentifier("originalTransactionId"))
    status = try fields.required("status", try fields.integer("status"))
    signedTransactionInfo = try fields.requiredIdentifier("signedTransactionInfo")
    signedRenewalInfo = try fields.identifier("signedRenewalInfo")
  }
}

/// Why a renewal date is extended (`extendReasonCode`).
package enum ExtensionReason: Int64, Hashable, Sendable, CaseIterable {
  case undeclared = 0
  case customerSatisfaction = 1
  case other = 2
  case serviceIssue = 3
}

/// The extension of a renewal date. It cannot be taken back.
package struct RenewalExtension: Hashable, Sendable {
  /// 1 to 90.
  package var days: Int64
  package var reason: ExtensionReason
  /// Names the request, with 1 to 128 bytes.
  package var requestIdentifier: String

  package init(days: Int64, reason: ExtensionReason, requestIdentifier: String) {
    self.days = days
    self.reason = reason
    self.requestIdentifier = requestIdentifier
  }

  /// What every call checks before it sends anything.
  ///
  /// - Throws: ``AppStoreServerError/Code/invalidRequest``.
  package func check() throws(AppStoreServerError) {
    guard (1...90).contains(days) else { throw .invalidRequest("extendByDays is not 1 to 90") }
    guard (1...128).contains(requestIdentifier.utf8.count) else {
      throw .invalidRequest("requestIdentifier has not 1 to 128 bytes")
    }
  }
}

/// The answer to the extension of one renewal date.
package struct RenewalExtensionResult: Hashable, Sendable {
  package let success: Bool
  package let originalTransactionID: OriginalTransactionID?
  package let webOrderLineItemID: WebOrderLineItemID?
  /// The new renewal date.
  package let effectiveDate: Milliseconds?

  init(_ fields: PayloadFields) throws(PayloadError) {
    success = try fields.required("success", try fields.boolean("success"))
    originalTransactionID = try fields.identifier("originalTransactionId")
      .map(OriginalTransactionID.init(_:))
    webOrderLineItemID = try fields.identifier("webOrderLineItemId")
      .map(WebOrderLineItemID.init(_:))
    effectiveDate = try fields.moment("effectiveDate")
  }
}

/// The extension of the renewal dates of all subscribers of a product.
package struct MassRenewalExtension: Hashable, Sendable {
  /// Its `requestIdentifier` finds the status later, so it must be one that a path can have. Apple
  /// answers a request with the same one with 200.
  package var renewalExtension: RenewalExtension
  package var productID: ProductID
  /// ISO 3166-1 alpha-3 codes; all storefronts if it is empty.
  package var storefrontCountryCodes: [String]

  package init(
    _ renewalExtension: RenewalExtension, of productID: ProductID,
    storefrontCountryCodes: [String] = []
  ) {
    self.renewalExtension = renewalExtension
    self.productID = productID
    self.storefrontCountryCodes = storefrontCountryCodes
  }

  /// What every call checks before it sends anything.
  ///
  /// - Throws: ``AppStoreServerError/Code/invalidRequest``.
  package func check() throws(AppStoreServerError) {
    try renewalExtension.check()
    try AppStoreServerRequest.check(pathValue: productID.rawValue, "productId")
    try AppStoreServerRequest.check(
      pathValue: renewalExtension.requestIdentifier, "requestIdentifier")
  }
}

/// How far the extension of all renewal dates of a product has come.
package struct MassExtensionStatus: Hashable, Sendable {
  package let requestIdentifier: String
  package let isComplete: Bool
  package let completeDate: Milliseconds?
  package let succeededCount: Int64?
  package let failedCount: Int64?

  init(_ fields: PayloadFields) throws(PayloadError) {
    requestIdentifier = try fields.requiredIdentifier("requestIdentifier")
    isComplete = try fields.required("complete", try fields.boolean("complete"))
    completeDate = try fields.moment("completeDate")
    succeededCount = try fields.integer("succeededCount")
    failedCount = try fields.integer("failedCount")
  }
}
