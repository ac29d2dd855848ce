import EntitlementDomain
import YAMLFiles

extension CatalogReader {
  mutating func readProduct(_ node: YAMLNode, at path: String) {
    guard
      var fields = fields(
        of: node, at: path,
        allowed: [
          "id", "type", "group", "level", "duration", "stacking", "entitlements", "consumption",
          "bundle_id", "offers",
        ])
    else { return }
    let idNode = fields.take("id")
    let id = identifier(idNode, at: path + ".id", in: node)
    let kind = requiredChoice(
      fields.take("type"), of: CatalogProduct.Kind.self, "type", at: path + ".type", in: node)
    let conferred = entitlementIDs(fields.take("entitlements"), at: path + ".entitlements")
    // The type determines which other fields are allowed.
    guard let kind else { return }

    var product = CatalogProduct(id: ProductID(id ?? ""), kind: kind, entitlements: conferred)
    readSubscription(&fields, of: &product, at: path, node)
    readDuration(&fields, of: &product, at: path, node)
    if let node = fields.take("consumption") {
      product.consumption = consumption(node, kind, at: path + ".consumption")
    }
    readOffers(&fields, of: &product, at: path, node)
    guard id != nil else { return }
    if catalog.products.updateValue(product, forKey: product.id) != nil {
      report("named twice", at: path + ".id", idNode ?? node)
    }
  }

  private mutating func readSubscription(
    _ fields: inout YAMLFields, of product: inout CatalogProduct, at path: String,
    _ node: YAMLNode
  ) {
    let group = fields.take("group")
    let level = fields.take("level")
    guard product.kind == .autoRenewable else {
      refuse(group, at: path + ".group", allowedFor: .autoRenewable)
      refuse(level, at: path + ".level", allowedFor: .autoRenewable)
      return
    }
    product.group = identifier(group, at: path + ".group", in: node).map { SubscriptionGroupID($0) }
    product.level = integer(level, at: path + ".level", range: 1...1_000).map(Int.init) ?? 1
  }

  private mutating func readDuration(
    _ fields: inout YAMLFields, of product: inout CatalogProduct, at path: String,
    _ node: YAMLNode
  ) {
    let duration = fields.take("duration")
    let stacking = fields.take("stacking")
    guard product.kind == .nonRenewing || product.kind == .consumable else {
      refuse(duration, at: path + ".duration", allowedFor: .nonRenewing)
      refuse(stacking, at: path + ".stacking", allowedFor: .nonRenewing)
      return
    }
    product.stacking = boolean(stacking, at: path + ".stacking") ?? false
    if let duration {
      product.duration = positiveDuration(duration, at: path + ".duration")
    } else if product.kind == .nonRenewing {
      report(
        "missing; without it a purchase of this product confers nothing (R12)",
        at: path + ".duration", node, severity: .warning)
    } else if !product.entitlements.isEmpty {
      report(
        "missing; a consumable confers entitlements only for a duration (R11)",
        at: path + ".duration", node, severity: .warning)
    }
  }

  mutating func positiveDuration(_ node: YAMLNode, at path: String) -> CalendarDuration? {
    guard let duration = duration(node, at: path) else { return nil }
    if duration == CalendarDuration() {
      report("a duration greater than zero is expected", at: path, node)
    }
    return duration
  }

  mutating func refuse(
    _ node: YAMLNode?, at path: String, allowedFor kind: CatalogProduct.Kind
  ) {
    guard let node else { return }
    report("allowed only for products of type \(kind.rawValue)", at: path, node)
  }
}
