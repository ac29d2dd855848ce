import AppStorePayloads
package import EntitlementDomain

/// An archived response of Apple's former `verifyReceipt` (Apple's "App Store Receipts",
/// `responseBody`), in a form of ``ArchiveForm``. It has no signature: the operator who imports it
/// vouches for its contents.
package struct ArchivedResponse: Sendable {
  /// What the operator states beside a response, for what it does not say itself.
  package struct Statement: Hashable, Sendable {
    /// The app of a response that names none.
    package var bundleID: BundleID?
    /// The environment of a response that names none. Any other must agree (R9).
    package var environment: StoreEnvironment?
    /// When Apple gave a response that has no `request_date_ms`.
    package var asOf: Milliseconds?

    package init(
      bundleID: BundleID? = nil, environment: StoreEnvironment? = nil, asOf: Milliseconds? = nil
    ) {
      self.bundleID = bundleID
      self.environment = environment
      self.asOf = asOf
    }
  }

  /// `receipt`, with the purchases of ``facts``. It has no device hash.
  package let receipt: Receipt
  /// The facts of the app, then of each purchase in `in_app` and `latest_receipt_info`, then of
  /// each element of `pending_renewal_info`, with ``FactAuthority/archivedResponse``. An element
  /// without a required field is a failure with ``Verdict/malformed``.
  ///
  /// A transaction in both lists is included once, from `latest_receipt_info`, which is newer.
  package let facts: [Result<SignedFact, Refusal>]

  /// - Parameters:
  ///   - json: the response as received, at most ``VerificationLimits/archiveLength`` bytes.
  ///   - statement: what the response may leave out.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not a response about a valid
  ///   receipt, ``Verdict/wrongEnvironment`` when its environment is not known, or is not the stated
  ///   one.
  package init(_ json: [UInt8], beside statement: Statement = Statement()) throws(Refusal) {
    do {
      try self.init(reading: json, beside: statement)
    } catch {
      throw error.naming(json, at: .archivedResponse)
    }
  }

  private init(reading json: [UInt8], beside statement: Statement) throws(Refusal) {
    let contents: Contents
    do throws(PayloadError) {
      contents = try Contents(try ArchiveForm(json), beside: statement)
    } catch {
      throw Refusal(error, in: "response")
    }
    receipt = contents.receipt
    if let stated = statement.environment, stated != receipt.environment {
      throw Refusal(
        .wrongEnvironment, "response: it names another environment than is stated beside it")
    }
    var facts = try ReceiptFacts(
      of: receipt, in: contents.document, authority: .archivedResponse,
      signedDate: contents.answered)
    self.facts =
      [facts.app(receipt)] + contents.purchases.map { facts.transaction($0.purchase) }
      + contents.renewals.map { facts.renewalInfo($0) }
  }
}

extension ArchivedResponse {
  /// What a response says, with what is stated beside it.
  private struct Contents {
    let document: [UInt8]
    let receipt: Receipt
    let purchases: [Purchase]
    let renewals: [Result<ReceiptRenewal, Refusal>]
    /// When Apple gave the response: the signing moment of its facts.
    let answered: Milliseconds

    init(_ form: ArchiveForm, beside statement: Statement) throws(PayloadError) {
      document = form.json
      guard let bundleID = try form.bundleID() ?? statement.bundleID else {
        throw PayloadError(.missingField, "it names no app, and none is stated beside it")
      }
      let purchases = try ArchivedResponse.purchases(form)
      let renewals = try ArchivedResponse.renewals(form, among: purchases)
      let created = try form.receipt?.archivedMoment("receipt_creation_date_ms")
      let latest = ArchivedResponse.latestMoment(
        in: purchases, renewals, isExpired: form.isExpired,
        besides: [created, try form.notification?.archivedMoment(Self.lastChange)])
      let stated = try form.receipt?.archivedMoment("request_date_ms")
      guard let answered = stated ?? statement.asOf ?? latest else {
        throw PayloadError(
          .missingField, "request_date_ms is missing, and there is no other date to date it by")
      }
      if stated == nil, let latest, answered < latest {
        throw PayloadError(
          .contradiction, "the date that is stated beside it is before the latest date in it")
      }
      var receipt = try Receipt(
        archived: form, of: bundleID, statement.environment, created: created ?? answered)
      receipt.items = purchases.map(\.item)
      (self.receipt, self.answered) = (receipt, answered)
      (self.purchases, self.renewals) = (purchases, renewals)
    }

    private static let lastChange: StaticString = "auto_renew_status_change_date_ms"
  }

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

    /// The first purchase of a chain is its own original.
    var chain: OriginalTransactionID? {
      item.originalTransactionID ?? item.transactionID.map { OriginalTransactionID($0.rawValue) }
    }
  }

  /// The purchases of all lists, one for each transaction. The later one wins.
  private static func purchases(_ form: ArchiveForm) throws(PayloadError) -> [Purchase] {
    let fields = try form.purchases()
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

  private static func renewals(
    _ form: ArchiveForm, among purchases: [Purchase]
  ) throws(PayloadError) -> [Result<ReceiptRenewal, Refusal>] {
    let renewals = try form.renewals()
    guard renewals.count <= VerificationLimits.receiptItems else {
      throw PayloadError(.tooLarge, "more than \(VerificationLimits.receiptItems) renewals")
    }
    var chains: [ProductID: Set<OriginalTransactionID>] = [:]
    for purchase in purchases {
      guard let product = purchase.item.productID, let chain = purchase.chain else { continue }
      chains[product, default: []].insert(chain)
    }
    return renewals.map { renewal in
      do throws(PayloadError) {
        let productID = try renewal.chain.archivedIdentifier("product_id")
          .map(ProductID.init(_:))
        let known = productID.flatMap { chains[$0] } ?? []
        return .success(
          try ReceiptRenewal(
            archived: renewal.fields, of: try chain(in: renewal.chain, ofProduct: known),
            productID))
      } catch {
        return .failure(Refusal(error, in: "renewal"))
      }
    }
  }

  /// The chain that an element names; without a name, as in 2017, the one of its product.
  private static func chain(
    in fields: PayloadFields, ofProduct chains: Set<OriginalTransactionID>
  ) throws(PayloadError) -> OriginalTransactionID {
    if let identifier = try fields.archivedIdentifier("original_transaction_id") {
      return OriginalTransactionID(identifier)
    }
    guard let chain = chains.first, chains.count == 1 else {
      throw PayloadError(
        .missingField,
        "original_transaction_id is missing, and its product has "
          + (chains.isEmpty ? "no purchase" : "purchases of several chains"))
    }
    return chain
  }

  /// The latest moment in a response that had come when Apple gave it: of a purchase or a cancellation,
  /// or the end of a period that the response tells to be over. Other ends, and grace, may lie ahead.
  private static func latestMoment(
    in purchases: [Purchase], _ renewals: [Result<ReceiptRenewal, Refusal>], isExpired: Bool,
    besides others: [Milliseconds?]
  ) -> Milliseconds? {
    var over: Set<OriginalTransactionID> = []
    for case .success(let renewal) in renewals where renewal.isAfterPeriod {
      over.insert(renewal.originalTransactionID)
    }
    var moments = others
    for purchase in purchases {
      let item = purchase.item
      moments += [item.purchaseDate, item.originalPurchaseDate, item.cancellationDate]
      if isExpired || purchase.chain.map(over.contains) == true { moments.append(item.expiresDate) }
    }
    return moments.compactMap(\.self).max()
  }
}

extension Receipt {
  /// - Parameters:
  ///   - statedEnvironment: of a response that names none.
  ///   - created: the date of the receipt, or of the response.
  /// - Throws: ``PayloadError``.
  fileprivate init(
    archived form: ArchiveForm, of bundleID: BundleID, _ statedEnvironment: StoreEnvironment?,
    created: Milliseconds
  ) throws(PayloadError) {
    let named = try form.environmentName()
    let receiptType: String
    if let type = try form.receipt?.identifier("receipt_type") {
      receiptType = type
    } else {
      // Old receipts have no type.
      guard let environment = named ?? statedEnvironment?.rawValue else {
        throw PayloadError(
          .environmentAbsent, "it names no environment, and none is stated beside it")
      }
      receiptType = environment == "Sandbox" ? "ProductionSandbox" : environment
    }
    self.init(
      receiptType: receiptType, bundleID: bundleID, bundleIDBytes: [], creationDate: created)
    // Apple never answers for receipts of Xcode (R9).
    guard self.environment == .production || self.environment == .sandbox else {
      throw PayloadError(.environmentUnknown, "the receipt's environment is not the App Store's")
    }
    guard named == nil || named == self.environment?.rawValue else {
      throw PayloadError(.contradiction, "environment is not that of receipt_type")
    }
    guard let fields = form.receipt, !fields.isTransaction else {
      // The dates are those of transactions, not of the app.
      applicationVersion = try form.transactionVersion()
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
  ///   - fields: an element of `pending_renewal_info`, or a response in the style of iOS 6.
  ///   - chain: the chain that it is about.
  ///   - productID: the product of that chain.
  /// - Throws: ``PayloadError``.
  fileprivate init(
    archived fields: PayloadFields, of chain: OriginalTransactionID, _ productID: ProductID?
  ) throws(PayloadError) {
    self.init(originalTransactionID: chain)
    self.productID = productID
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

  /// Whether it tells what becomes of a subscription after a period has ended.
  fileprivate var isAfterPeriod: Bool {
    expirationIntent != nil || isInBillingRetryPeriod == true || gracePeriodExpiresDate != nil
  }
}
