import AppStorePayloads
package import EntitlementDomain

/// An archived response of Apple's former `verifyReceipt` (Apple's "App Store Receipts",
/// `responseBody`). It has no signature: the operator who imports it vouches for its contents.
///
/// A response to a receipt of one transaction, in the style of iOS 6, is read too. Its `receipt` is
/// the transaction itself and names the app in `bid`.
package struct ArchivedResponse: Sendable {
  /// `receipt`, with the purchases of ``facts``. It has no device hash.
  package let receipt: Receipt
  /// The facts of the app, then of each purchase in `in_app` and `latest_receipt_info`, then of
  /// each element of `pending_renewal_info`, with ``FactAuthority/archivedResponse``. An element
  /// without a required field is a failure with ``Verdict/malformed``.
  ///
  /// A transaction in both lists is included once, from `latest_receipt_info`, which is newer.
  package let facts: [Result<SignedFact, Refusal>]

  /// - Parameter json: the response as received, at most ``JSONLimits/length`` bytes.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not a response about a valid
  ///   receipt, ``Verdict/wrongEnvironment`` when its environment is not known.
  package init(_ json: [UInt8]) throws(Refusal) {
    let response: PayloadFields
    let content: PayloadFields
    var receipt: Receipt
    let purchases: [Purchase]
    let renewals: [Result<ReceiptRenewal, Refusal>]
    let answered: Milliseconds?
    do throws(PayloadError) {
      response = try PayloadFields(json: json)
      guard let status = try response.archivedInteger("status") else {
        throw PayloadError(.missingField, "status is missing")
      }
      guard Self.validStatuses.contains(status) else {
        throw PayloadError(
          .missingField,
          "status is neither 0 nor 21006 (valid, the subscription has expired): Apple did not find "
            + "the receipt valid")
      }
      guard let object = try response.object("receipt") else {
        throw PayloadError(.missingField, "receipt is missing")
      }
      content = object
      receipt = try Receipt(
        archived: content, environment: try response.identifier("environment"))
      purchases = try Self.purchases(response, content)
      renewals = try Self.renewals(response, content)
      answered = try content.archivedMoment("request_date_ms")
    } catch {
      throw Refusal(error, in: "response")
    }
    receipt.items = purchases.map(\.item)
    self.receipt = receipt
    facts = try Self.facts(receipt, purchases, renewals, response: json, answered: answered)
  }
}

extension ArchivedResponse {
  /// 21006 is sent for receipts in the style of iOS 6: valid, but the subscription has expired.
  private static let validStatuses: Set<Int64> = [0, 21_006]

  /// A purchase of a response. It may lack fields that a fact requires.
  struct Purchase {
    let item: ReceiptItem
    let purchase: Result<ReceiptPurchase, Refusal>

    init(_ fields: PayloadFields) {
      do throws(PayloadError) {
        let read = try ReceiptItem(archived: fields)
        var more = ReceiptPurchase.Archived()
        try more.read(fields)
        (item, purchase) = (read, read.purchase.map { more.completing($0) })
      } catch {
        (item, purchase) = (ReceiptItem(), .failure(Refusal(error, in: "purchase")))
      }
    }
  }

  /// The purchases of both lists, one for each transaction. The later one wins.
  static func purchases(
    _ response: PayloadFields, _ receipt: PayloadFields
  ) throws(PayloadError) -> [Purchase] {
    let fields: [PayloadFields]
    if receipt.isTransaction {
      // The latest transaction is an object, in a member of its own once it has expired.
      fields =
        try [receipt] + response.objectOrObjects("latest_expired_receipt_info")
        + response.objectOrObjects("latest_receipt_info")
    } else {
      fields =
        try (receipt.objects("in_app") ?? []) + (response.objects("latest_receipt_info") ?? [])
    }
    guard fields.count <= VerificationLimits.receiptItems else {
      throw PayloadError(.tooLarge, "more than \(VerificationLimits.receiptItems) purchases")
    }
    var purchases: [Purchase] = []
    var positions: [TransactionID: Int] = [:]
    for purchase in fields.map(Purchase.init(_:)) {
      if let identifier = purchase.item.transactionID {
        if let position = positions[identifier] {
          purchases[position] = purchase
          continue
        }
        positions[identifier] = purchases.count
      }
      purchases.append(purchase)
    }
    return purchases
  }

  /// The elements of `pending_renewal_info`. In the style of iOS 6 the response itself has the
  /// fields of one, about the chain of its transaction.
  static func renewals(
    _ response: PayloadFields, _ receipt: PayloadFields
  ) throws(PayloadError) -> [Result<ReceiptRenewal, Refusal>] {
    guard receipt.isTransaction else {
      return try (response.objects("pending_renewal_info") ?? [])
        .map { renewal($0, ofChainIn: $0) }
    }
    guard response.contains("auto_renew_status") else { return [] }
    return [renewal(response, ofChainIn: receipt)]
  }

  /// - Parameter answered: `request_date_ms` of the response; nil if it is absent.
  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment``.
  static func facts(
    _ receipt: Receipt, _ purchases: [Purchase], _ renewals: [Result<ReceiptRenewal, Refusal>],
    response json: [UInt8], answered: Milliseconds?
  ) throws(Refusal) -> [Result<SignedFact, Refusal>] {
    var facts = try ReceiptFacts(
      of: receipt, in: json, authority: .archivedResponse,
      signedDate: answered ?? receipt.creationDate)
    return [facts.app(receipt)] + purchases.map { facts.transaction($0.purchase) }
      + renewals.map { facts.renewalInfo($0) }
  }

  private static func renewal(
    _ fields: PayloadFields, ofChainIn chain: PayloadFields
  ) -> Result<ReceiptRenewal, Refusal> {
    do throws(PayloadError) {
      return .success(try ReceiptRenewal(archived: fields, ofChainIn: chain))
    } catch {
      return .failure(Refusal(error, in: "renewal"))
    }
  }
}

extension Receipt {
  /// - Parameters:
  ///   - fields: `receipt` of the response.
  ///   - environment: `environment` of the response, used for old receipts without a type.
  /// - Throws: ``PayloadError``.
  init(archived fields: PayloadFields, environment: String?) throws(PayloadError) {
    let stated = environment.flatMap(StoreEnvironment.init(rawValue:))
    let receiptType: String
    if let type = try fields.identifier("receipt_type") {
      receiptType = type
    } else {
      receiptType = stated == .sandbox ? "ProductionSandbox" : environment ?? ""
    }
    let created = try fields.archivedMoment("receipt_creation_date_ms")
    let answered = try fields.archivedMoment("request_date_ms")
    guard let creationDate = created ?? answered else {
      throw PayloadError(
        .missingField,
        "receipt_creation_date_ms and request_date_ms are missing: nothing tells the date of the "
          + "response")
    }
    let bundleID = try fields.requiredIdentifier(fields.isTransaction ? "bid" : "bundle_id")
    self.init(
      receiptType: receiptType, bundleID: BundleID(bundleID), bundleIDBytes: [],
      creationDate: creationDate)
    // Apple never answers for receipts of Xcode (R9).
    guard self.environment == .production || self.environment == .sandbox else {
      throw PayloadError(.environmentUnknown, "the receipt's environment is not the App Store's")
    }
    guard environment == nil || stated == self.environment else {
      throw PayloadError(.wrongType, "environment is not that of receipt_type")
    }
    guard !fields.isTransaction else {
      // Its dates are those of the transaction, not of the app.
      applicationVersion = try fields.archivedIdentifier("bvrs")
      return
    }
    applicationVersion = try fields.archivedIdentifier("application_version")
    originalApplicationVersion = try fields.archivedIdentifier("original_application_version")
    originalPurchaseDate = try fields.archivedMoment("original_purchase_date_ms")
    expirationDate = try fields.archivedMoment("expiration_date_ms")
  }
}

extension ReceiptItem {
  /// - Throws: ``PayloadError``.
  fileprivate init(archived fields: PayloadFields) throws(PayloadError) {
    self.init()
    quantity = try fields.archivedInteger("quantity")
    productID = try fields.archivedIdentifier("product_id").map(ProductID.init(_:))
    transactionID = try fields.archivedIdentifier("transaction_id").map(TransactionID.init(_:))
    originalTransactionID = try fields.archivedIdentifier("original_transaction_id")
      .map(OriginalTransactionID.init(_:))
    purchaseDate = try fields.archivedMoment("purchase_date_ms")
    originalPurchaseDate = try fields.archivedMoment("original_purchase_date_ms")
    expiresDate = try fields.archivedExpirationDate()
    webOrderLineItemID = try fields.archivedIdentifier("web_order_line_item_id")
      .map(WebOrderLineItemID.init(_:))
    cancellationDate = try fields.archivedMoment("cancellation_date_ms")
    promotionalOfferID = try fields.archivedIdentifier("promotional_offer_id")
    isTrialPeriod = try fields.archivedFlag("is_trial_period")
    isInIntroductoryOfferPeriod = try fields.archivedFlag("is_in_intro_offer_period")
  }
}

extension ReceiptPurchase {
  /// The fields of a purchase that a response has and a receipt has not.
  fileprivate struct Archived {
    var subscriptionGroupID: SubscriptionGroupID?
    var appAccountToken: AppAccountToken?
    var ownership: OwnershipType?
    var cancellationReason: RevocationReason?
    var isUpgraded: Bool?
    var offer: Offer?

    /// - Throws: ``PayloadError``.
    mutating func read(_ fields: PayloadFields) throws(PayloadError) {
      subscriptionGroupID = try fields.archivedIdentifier("subscription_group_identifier")
        .map(SubscriptionGroupID.init(_:))
      appAccountToken = try fields.archivedIdentifier("app_account_token")
        .map(AppAccountToken.init(_:))
      ownership = try fields.archivedIdentifier("in_app_ownership_type")
        .map(OwnershipType.init(rawValue:))
      // 1 is an issue with the app, 0 another reason: as in `revocationReason`.
      cancellationReason = try fields.archivedInteger("cancellation_reason")
        .map(RevocationReason.init(rawValue:))
      isUpgraded = try fields.archivedFlag("is_upgraded")
      offer = try fields.archivedOffer()
    }

    func completing(_ purchase: ReceiptPurchase) -> ReceiptPurchase {
      var purchase = purchase
      purchase.subscriptionGroupID = subscriptionGroupID
      purchase.appAccountToken = appAccountToken
      purchase.ownership = ownership
      purchase.isUpgraded = isUpgraded
      purchase.offer = offer
      // An upgrade sets a cancellation date without a reason. It is not a refund (R17).
      if isUpgraded == true, cancellationReason == nil {
        purchase.revocationDate = nil
      } else {
        purchase.revocationReason = purchase.revocationDate == nil ? nil : cancellationReason
      }
      return purchase
    }
  }
}

extension ReceiptRenewal {
  /// - Parameters:
  ///   - fields: an element of `pending_renewal_info`.
  ///   - chain: what names the chain and its product: the same, or a transaction.
  /// - Throws: ``PayloadError``.
  fileprivate init(
    archived fields: PayloadFields, ofChainIn chain: PayloadFields
  ) throws(PayloadError) {
    guard let identifier = try chain.archivedIdentifier("original_transaction_id") else {
      throw PayloadError(.missingField, "original_transaction_id is missing")
    }
    self.init(originalTransactionID: OriginalTransactionID(identifier))
    productID = try chain.archivedIdentifier("product_id").map(ProductID.init(_:))
    autoRenewProductID = try fields.archivedIdentifier("auto_renew_product_id")
      .map(ProductID.init(_:))
    autoRenewStatus = try fields.archivedInteger("auto_renew_status")
    expirationIntent = try fields.archivedInteger("expiration_intent")
      .map(ExpirationIntent.init(rawValue:))
    gracePeriodExpiresDate = try fields.archivedMoment("grace_period_expires_date_ms")
    isInBillingRetryPeriod = try fields.archivedFlag("is_in_billing_retry_period")
    priceIncreaseStatus = try fields.archivedInteger("price_consent_status")
      .map(PriceIncreaseStatus.init(rawValue:))
    offer = try fields.archivedOffer()
  }
}
