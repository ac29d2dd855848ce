/// The type of a field in Apple's payloads.
indirect enum AppleFieldForm: Sendable {
  case text
  case integer
  case boolean
  case moment
  case texts
  case object(AppleFields)
  /// Any JSON value; it is not checked.
  case anything
}

/// The fields of one kind of object by Apple's names, with their types, in the order in which they
/// are signed. Source: Apple's documentation of the App Store Server API 1.21.
struct AppleFields: Sendable {
  let names: [String]
  private let forms: [String: AppleFieldForm]

  init(_ fields: KeyValuePairs<String, AppleFieldForm>) {
    names = fields.map(\.key)
    forms = Dictionary(fields.map { ($0.key, $0.value) }) { first, _ in first }
  }

  subscript(name: String) -> AppleFieldForm? { forms[name] }

  static let transaction = AppleFields([
    "transactionId": .text, "originalTransactionId": .text, "webOrderLineItemId": .text,
    "bundleId": .text, "productId": .text, "subscriptionGroupIdentifier": .text,
    "purchaseDate": .moment, "originalPurchaseDate": .moment, "expiresDate": .moment,
    "quantity": .integer, "type": .text, "appAccountToken": .text, "inAppOwnershipType": .text,
    "signedDate": .moment, "revocationReason": .integer, "revocationDate": .moment,
    "revocationType": .text, "revocationPercentage": .integer, "isUpgraded": .boolean,
    "offerType": .integer, "offerIdentifier": .text, "offerDiscountType": .text,
    "offerPeriod": .text, "environment": .text, "storefront": .text, "storefrontId": .text,
    "transactionReason": .text, "currency": .text, "price": .integer, "appTransactionId": .text,
    "previousOriginalTransactionId": .text, "billingPlanType": .text,
    "commitmentInfo": .object(commitment), "advancedCommerceInfo": .anything,
  ])

  static let renewalInfo = AppleFields([
    "originalTransactionId": .text, "productId": .text, "autoRenewProductId": .text,
    "autoRenewStatus": .integer, "expirationIntent": .integer,
    "gracePeriodExpiresDate": .moment, "isInBillingRetryPeriod": .boolean,
    "priceIncreaseStatus": .integer, "offerType": .integer, "offerIdentifier": .text,
    "offerDiscountType": .text, "offerPeriod": .text, "signedDate": .moment,
    "environment": .text, "recentSubscriptionStartDate": .moment, "renewalDate": .moment,
    "currency": .text, "renewalPrice": .integer, "eligibleWinBackOfferIds": .texts,
    "appAccountToken": .text, "appTransactionId": .text, "renewalBillingPlanType": .text,
    "commitmentInfo": .object(commitment), "advancedCommerceInfo": .anything,
  ])

  static let appTransaction = AppleFields([
    "receiptType": .text, "appAppleId": .integer, "bundleId": .text, "applicationVersion": .text,
    "versionExternalIdentifier": .integer, "receiptCreationDate": .moment,
    "originalPurchaseDate": .moment, "originalApplicationVersion": .text,
    "deviceVerification": .text, "deviceVerificationNonce": .text, "preorderDate": .moment,
    "appTransactionId": .text, "originalPlatform": .text,
  ])

  /// `commitmentInfo`, of a transaction and of a renewal info.
  private static let commitment = AppleFields([
    "billingPeriodNumber": .integer, "totalBillingPeriods": .integer,
    "commitmentExpiresDate": .moment, "commitmentPrice": .integer,
    "commitmentAutoRenewProductId": .text, "commitmentAutoRenewStatus": .integer,
    "commitmentRenewalBillingPlanType": .text, "commitmentRenewalDate": .moment,
    "commitmentRenewalPrice": .integer,
  ])

  /// `data` of a notification.
  static let data = AppleFields([
    "appAppleId": .integer, "bundleId": .text, "bundleVersion": .text, "environment": .text,
    "status": .integer, "consumptionRequestReason": .text, "signedTransactionInfo": .text,
    "signedRenewalInfo": .text,
  ])

  static let summary = AppleFields([
    "environment": .text, "appAppleId": .integer, "bundleId": .text, "productId": .text,
    "requestIdentifier": .text, "storefrontCountryCodes": .texts, "succeededCount": .integer,
    "failedCount": .integer,
  ])

  static let externalPurchaseToken = AppleFields([
    "externalPurchaseId": .text, "tokenCreationDate": .moment, "appAppleId": .integer,
    "bundleId": .text,
  ])

  static let appData = AppleFields([
    "appAppleId": .integer, "bundleId": .text, "environment": .text,
    "signedAppTransactionInfo": .text,
  ])

  /// All fields of a named fact, which can be used as any kind.
  static let anyFact: AppleFields = {
    var names: [String] = []
    var forms: [String: AppleFieldForm] = [:]
    for kind in [transaction, renewalInfo, appTransaction] {
      for name in kind.names where forms[name] == nil {
        names.append(name)
        forms[name] = kind[name]
      }
    }
    return AppleFields(names: names, forms: forms)
  }()

  private init(names: [String], forms: [String: AppleFieldForm]) {
    self.names = names
    self.forms = forms
  }
}
