import EntitlementDomain

/// Makes payloads of drafts: fills in what a scenario need not say.
struct FactComposer {
  let issues: IssueCollector
  /// Nil where it could not be read, which was reported.
  let catalog: Catalog?
  let scope: AppScope
  /// When the App Store signs what does not say when.
  let signedAt: Milliseconds

  /// Apple's number of the app, in Production: elsewhere it sends none.
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
      let standard: PayloadValue? =
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
      object[name] = value(name, of: draft, default: standard)
    }
    return finished(object, draft)
  }

  /// - Parameter companion: the one transaction of the same step.
  func renewalInfo(_ draft: FactDraft, companion: PayloadObject?) -> PayloadObject {
    var object = PayloadObject()
    if companion == nil { require(["originalTransactionId", "productId"], in: draft) }
    let product = value("productId", of: draft, default: companion?["productId"])
    for name in AppleFields.renewalInfo.names {
      let standard: PayloadValue? =
        switch name {
        case "originalTransactionId": companion?["originalTransactionId"]
        case "productId": product
        case "autoRenewProductId": product
        case "autoRenewStatus": .number("1")
        case "environment": .text(scope.environment.rawValue)
        case "signedDate": .number(String(signedAt.rawValue))
        default: nil
        }
      object[name] = value(name, of: draft, default: standard)
    }
    return finished(object, draft)
  }

  func appTransaction(_ draft: FactDraft) -> PayloadObject {
    var object = PayloadObject()
    for name in AppleFields.appTransaction.names {
      let standard: PayloadValue? =
        switch name {
        case "receiptType": .text(scope.environment.rawValue)
        case "appAppleId": appAppleID
        case "bundleId": .text(scope.bundleID.rawValue)
        case "receiptCreationDate": .number(String(signedAt.rawValue))
        default: nil
        }
      object[name] = value(name, of: draft, default: standard)
    }
    return finished(object, draft)
  }

  /// What the draft says, which may be that the field is left out, else the default.
  private func value(
    _ name: String, of draft: FactDraft, default standard: PayloadValue? = nil
  ) -> PayloadValue? {
    if let field = draft.fields[name] { return field.value }
    return standard
  }

  private func finished(_ object: PayloadObject, _ draft: FactDraft) -> PayloadObject {
    var object = object
    for name in draft.extra.names { object[name] = draft.extra[name] }
    return object
  }

  private func require(_ names: [String], in draft: FactDraft) {
    for name in names where draft.fields[name] == nil && draft.extra[name] == nil {
      issues.report(
        "missing; null leaves it out on purpose", at: "\(draft.path).\(name)", line: draft.line)
    }
  }
}

extension CatalogProduct.Kind {
  /// Apple's word for it.
  fileprivate var appleType: ProductType {
    switch self {
    case .autoRenewable: .autoRenewable
    case .nonRenewing: .nonRenewing
    case .nonConsumable: .nonConsumable
    case .consumable: .consumable
    }
  }
}
