import EntitlementDomain

extension ReceiptItem {
  /// The attributes of purchases that are known.
  private enum Attribute {
    static let quantity: Int64 = 1_701
    static let productID: Int64 = 1_702
    static let transactionID: Int64 = 1_703
    static let purchaseDate: Int64 = 1_704
    static let originalTransactionID: Int64 = 1_705
    static let originalPurchaseDate: Int64 = 1_706
    static let expiresDate: Int64 = 1_708
    static let webOrderLineItemID: Int64 = 1_711
    static let cancellationDate: Int64 = 1_712
    static let isTrialPeriod: Int64 = 1_713
    static let isInIntroductoryOfferPeriod: Int64 = 1_719

    static let all: Set<Int64> = [
      quantity, productID, transactionID, purchaseDate, originalTransactionID,
      originalPurchaseDate, expiresDate, webOrderLineItemID, cancellationDate, isTrialPeriod,
      isInIntroductoryOfferPeriod,
    ]
  }

  /// - Parameter value: the value of attribute 17: a SET of attributes.
  /// - Throws: ``Refusal`` with ``Verdict/malformed``. A field that is missing is none of its
  ///   causes.
  init(_ value: DERElement, in der: [UInt8]) throws(Refusal) {
    self.init()
    var reader = DERReader(der, inside: value)
    let set = try reader.next(DERTag.set, "set of attributes of a purchase")
    try reader.expectEnd(of: "purchase")
    var attributes = ReceiptAttributes(known: Attribute.all)
    try attributes.read(set, in: der)
    quantity = try attributes.integer(Attribute.quantity, "quantity")
    productID = try attributes.text(Attribute.productID, "product id").map(ProductID.init(_:))
    transactionID = try attributes.text(Attribute.transactionID, "transaction id")
      .map(TransactionID.init(_:))
    originalTransactionID = try attributes.text(
      Attribute.originalTransactionID, "original transaction id"
    ).map(OriginalTransactionID.init(_:))
    purchaseDate = try attributes.moment(Attribute.purchaseDate, "purchase date")
    originalPurchaseDate = try attributes.moment(
      Attribute.originalPurchaseDate, "original purchase date")
    expiresDate = try attributes.moment(Attribute.expiresDate, "expires date")
    cancellationDate = try attributes.moment(Attribute.cancellationDate, "cancellation date")
    // 0 stands for none: only subscriptions have orders on the web.
    webOrderLineItemID = try attributes.integer(
      Attribute.webOrderLineItemID, "web order line item id"
    ).flatMap { $0 == 0 ? nil : WebOrderLineItemID(String($0)) }
    isTrialPeriod = try attributes.flag(Attribute.isTrialPeriod, "trial period flag")
    isInIntroductoryOfferPeriod = try attributes.flag(
      Attribute.isInIntroductoryOfferPeriod, "introductory offer flag")
    unknownAttributes = attributes.unknown
  }
}
