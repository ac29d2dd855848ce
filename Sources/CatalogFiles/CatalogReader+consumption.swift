import EntitlementDomain
import YAMLFiles

extension CatalogReader {
  /// What is sent when a refund of a product is asked for (R87). Combinations that Apple refuses are
  /// errors.
  mutating func consumption(
    _ node: YAMLNode, _ kind: CatalogProduct.Kind, at path: String
  ) -> ConsumptionPolicy? {
    guard
      var fields = fields(
        of: node, at: path,
        allowed: ["delivery_status", "sample_content_provided", "refund_preference", "percentage"])
    else { return nil }
    var policy = ConsumptionPolicy()
    if let node = fields.take("delivery_status") {
      policy.deliveryStatus =
        choice(
          node, of: ConsumptionInformation.DeliveryStatus.self, "delivery status",
          at: path + ".delivery_status") ?? .delivered
    }
    policy.sampleContentProvided =
      boolean(fields.take("sample_content_provided"), at: path + ".sample_content_provided")
      ?? false
    let preferenceNode = fields.take("refund_preference")
    policy.refundPreference = preferenceNode.flatMap {
      choice(
        $0, of: ConsumptionInformation.RefundPreference.self, "refund preference",
        at: path + ".refund_preference")
    }
    let percentageNode = fields.take("percentage")
    if let percentageNode {
      guard let percentage = percentage(percentageNode, at: path + ".percentage") else {
        return nil
      }
      policy.percentage = percentage
    }
    check(policy, kind, percentageNode ?? node, preferenceNode ?? node, at: path)
    return policy
  }

  private mutating func check(
    _ policy: ConsumptionPolicy, _ kind: CatalogProduct.Kind, _ percentage: YAMLNode,
    _ preference: YAMLNode, at path: String
  ) {
    let isSubscription = kind == .autoRenewable
    if isSubscription, policy.percentage != nil {
      report(
        "not allowed for products of type \(kind.rawValue): Apple computes it",
        at: path + ".percentage", percentage)
      return
    }
    let isDelivered = policy.deliveryStatus == .delivered
    if !isDelivered, let stated = policy.percentage, stated != .fixed(0) {
      report(
        "only 0 is allowed unless delivery_status is DELIVERED", at: path + ".percentage",
        percentage)
    }
    guard policy.refundPreference == .grantProrated, !isSubscription else { return }
    let isPartial =
      switch policy.percentage {
      case .required: isDelivered
      case .fixed(let value): (1..<ConsumptionInformation.allConsumed).contains(value)
      case .optional, nil: false
      }
    if !isPartial {
      report(
        "GRANT_PRORATED needs a percentage: required, or a number between 0 and 100",
        at: path + ".refund_preference", preference)
    }
  }

  private mutating func percentage(
    _ node: YAMLNode, at path: String
  ) -> ConsumptionPolicy.Percentage? {
    switch node.scalar {
    case "required": return .required
    case "optional": return .optional
    case let text?:
      if let value = ConsumptionPercentage.thousandths(text) { return .fixed(value) }
    case nil: break
    }
    report(
      "required, optional, or a number from 0 to 100 with at most three decimals is expected",
      at: path, node)
    return nil
  }
}
