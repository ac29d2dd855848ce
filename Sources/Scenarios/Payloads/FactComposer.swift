import EntitlementDomain

/// Makes payloads from drafts and fills in defaults.
struct FactComposer {
  let issues: IssueCollector
  /// Nil if the catalog could not be read, which was reported.
  let catalog: Catalog?
  let scope: AppScope
  /// The signing date of payloads that do not state one.
  let signedAt: Milliseconds

  /// The app's Apple id. Apple sends it in Production only.
  var appAppleID: PayloadValue? {
    guard scope.environment == .production else { return nil }
    return catalog?.apps[scope.bundleID]?.appAppleID.map { .number(String($0)) }
  }

  func transaction(_ draft: FactDraft) -> PayloadObject {
    var object = PayloadObject()
    require(["transactionId", "productId", "purchaseDate"], in: draft)
    let product = draft.text("productId").flatMap { catalog?.products[ProductID($0)] }
    if catalog != nil, product == nil, draft.fields["type"] == nil {
      issues.report(
        "missing; the catalog does not know the product", at: "\(draft.path).type",
        line: draft.line)
    }
    let identifier = value("transactionId", of: draft)
    let chain = value("originalTransactionId", of: draft, default: identifier)
    for name in AppleFields.transaction.names {
      let defaultValue: PayloadValue? =
        switch name {
        case "originalTransactionId": chain
        case "bundleId": .text(scope.bundleID.rawValue)
        case "environment": .text(scope.environment.rawValue)
        case "signedDate": .number(String(signedAt.rawValue))
        case "type": product.map { .text($0.kind.appleType.rawValue) }
        case "subscriptionGroupIdentifier": product?.group.map { .text($0.rawValue) }
        case "originalPurchaseDate":
          chain == identifier ? value("purchaseDate", of: draft) : nil
        case "quantity": .number("1")
        case "inAppOwnershipType": .text(OwnershipType.purchased.rawValue)
        default: nil
        }
      object[name] = value(name, of: draft, default: defaultValue)
    }
    return finished(object, draft)
  }

  /// - Parameter companion: the only transaction of the same step; its fields are the defaults.
  func renewalInfo(_ draft: FactDraft, companion: PayloadObject?) -> PayloadObject {
    var object = PayloadObject()
    if companion == nil { require(["originalTransactionId", "productId"], in: draft) }
    let product = value("productId", of: draft, default: companion?["productId"])
    for name in AppleFields.renewalInfo.names {
      let defaultValue: PayloadValue? =
        switch name {
        case "originalTransactionId": companion?["originalTransactionId"]
        case "productId": product
        case "autoRenewProductId": product
        case "autoRenewStatus": .number("1")
        case "environment": .text(scope.environment.rawValue)
        case "signedDate": .number(String(signedAt.rawValue))
        default: nil
        }
      object[name] = value(name, of: draft, default: defaultValue)
    }
    return finished(object, draft)
  }

  func appTransaction(_ draft: FactDraft) -> PayloadObject {
    var object = PayloadObject()
    for name in AppleFields.appTransaction.names {
      let defaultValue: PayloadValue? =
        switch name {
        case "receiptType": .text(scope.environment.rawValue)
        case "appAppleId": appAppleID
        case "bundleId": .text(scope.bundleID.rawValue)
        case "receiptCreationDate": .number(String(signedAt.rawValue))
        default: nil
        }
      object[name] = value(name, of: draft, default: defaultValue)
    }
    return finished(object, draft)
  }

  /// The value of the draft, which may leave the field out, else the default.
  private func value(
    _ name: String, of draft: FactDraft, default defaultValue: PayloadValue? = nil
  ) -> PayloadValue? {
    if let field = draft.fields[name] { return field.value }
    return defaultValue
  }

  private func finished(_ object: PayloadObject, _ draft: FactDraft) -> PayloadObject {
    var object = object
    for name in draft.extra.names { object[name] = draft.extra[name] }
    return object
  }

  private func require(_ names: [String], in draft: FactDraft) {
    for name in names where draft.fields[name] == nil && draft.extra[name] == nil {
      issues.report(
        "missing; write null to leave it out", at: "\(draft.path).\(name)", line: draft.line)
    }
  }
}

extension CatalogProduct.Kind {
  /// Apple's name of the kind.
  fileprivate var appleType: ProductType {
    switch self {
    case .autoRenewable: .autoRenewable
    case .nonRenewing: .nonRenewing
    case .nonConsumable: .nonConsumable
    case .consumable: .consumable
    }
  }
}
