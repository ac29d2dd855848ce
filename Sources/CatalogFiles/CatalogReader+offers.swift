import EntitlementDomain
import YAMLFiles

// Offers of products (R82–R84).
extension CatalogReader {
  mutating func readOffers(
    _ fields: inout YAMLFields, of product: inout CatalogProduct, at path: String,
    _ node: YAMLNode
  ) {
    let appNode = fields.take("bundle_id")
    let list = fields.take("offers")
    guard product.kind == .autoRenewable else {
      refuse(appNode, at: path + ".bundle_id", allowedFor: .autoRenewable)
      refuse(list, at: path + ".offers", allowedFor: .autoRenewable)
      return
    }
    if let appNode {
      product.bundleID = appOfRule(appNode, at: path + ".bundle_id", in: node)
    }
    guard let list else { return }
    checkSeparator(product.id.rawValue, at: path + ".id", node)
    if appNode == nil, catalog.apps.count > 1 {
      report(
        "missing; the catalog has several apps, and offers belong to one of them",
        at: path + ".bundle_id", list)
    }
    for (index, item) in sequence(list, at: path + ".offers", required: node).enumerated() {
      let field = "\(path).offers[\(index)]"
      offerCount += 1
      guard offerCount <= CatalogOffer.maximumCount else {
        report("the catalog has more than \(CatalogOffer.maximumCount) offers", at: field, item)
        break
      }
      guard let offer = offer(item, at: field) else { continue }
      if product.offers.contains(where: { $0.id == offer.id }) {
        report(
          offer.id == nil ? "a product has one introductory offer" : "named twice",
          at: offer.id == nil ? field : field + ".id", item)
      }
      product.offers.append(offer)
    }
    // The introductory one, which has no id, is the first.
    product.offers.sort { ($0.id?.rawValue ?? "") < ($1.id?.rawValue ?? "") }
  }

  private mutating func offer(_ node: YAMLNode, at path: String) -> CatalogOffer? {
    guard
      var fields = fields(
        of: node, at: path,
        allowed: [
          "id", "kind", "for", "lapsed_for", "only_if_trial_unused", "times", "again_after",
          "overrides",
        ])
    else { return nil }
    let kind = requiredChoice(
      fields.take("kind"), of: OfferKindName.self, "kind", at: path + ".kind", in: node)
    let situations = situations(fields.take("for"), at: path + ".for", in: node)
    let trial = boolean(
      fields.take("only_if_trial_unused"), at: path + ".only_if_trial_unused")
    let lapsedNode = fields.take("lapsed_for")
    let lapsedFor = lapsedNode.flatMap { positiveDuration($0, at: path + ".lapsed_for") }
    if let lapsedNode, !situations.isEmpty, !situations.contains(where: \.situation.hasLapsed) {
      report(
        "needs lapsed or refunded under for", at: path + ".lapsed_for", lapsedNode)
    }
    // The kind determines which other fields are allowed.
    guard let kind else { return nil }
    var offer = CatalogOffer(
      kind: kind.kind, situations: Set(situations.map(\.situation)), lapsedFor: lapsedFor,
      onlyIfTrialUnused: trial ?? false)
    switch kind {
    case .promotional:
      let idNode = fields.take("id")
      offer.id = identifier(idNode, at: path + ".id", in: node).map { OfferID($0) }
      checkSeparator(offer.id?.rawValue, at: path + ".id", idNode ?? node)
      refuse(fields.take("overrides"), at: path + ".overrides", allowedFor: .introductory)
      readRepetition(&fields, of: &offer, at: path)
      guard offer.id != nil else { return nil }
    case .introductory:
      for name in ["id", "times", "again_after"] {
        refuse(fields.take(name), at: "\(path).\(name)", allowedFor: .promotional)
      }
      let present = situations.filter { $0 != .new && !$0.situation.hasLapsed }
      if let first = present.first {
        report(
          "Apple gives introductory offers to new and lapsed subscribers only, not to those that "
            + "are \(first.rawValue)", at: path + ".for", node)
      }
      offer.overrides = overrides(fields.take("overrides"), at: path + ".overrides")
    }
    return offer
  }

  /// The text of a signature joins identifiers with this character ("Generating a signature for
  /// promotional offers").
  private mutating func checkSeparator(_ text: String?, at path: String, _ node: YAMLNode) {
    if text?.unicodeScalars.contains("\u{2063}") == true {
      report("must not contain U+2063, which separates the fields of a signature", at: path, node)
    }
  }

  private mutating func readRepetition(
    _ fields: inout YAMLFields, of offer: inout CatalogOffer, at path: String
  ) {
    let againNode = fields.take("again_after")
    offer.againAfter = againNode.flatMap { positiveDuration($0, at: path + ".again_after") }
    var isTimesValid = true
    if let node = fields.take("times") {
      if node.scalar == "unlimited" {
        offer.times = nil
      } else if let times = node.scalar.flatMap({ Int($0) }),
        (1...CatalogOffer.maximumTimes).contains(times)
      {
        offer.times = times
      } else {
        isTimesValid = false
        report(
          "unlimited, or an integer from 1 to \(CatalogOffer.maximumTimes), is expected",
          at: path + ".times", node)
      }
    }
    if let againNode, isTimesValid, offer.times == 1 {
      report(
        "needs times: unlimited, or more than 1", at: path + ".again_after", againNode)
    }
  }

  private mutating func situations(
    _ node: YAMLNode?, at path: String, in parent: YAMLNode
  ) -> [OfferSituationName] {
    var result: [OfferSituationName] = []
    for (index, item) in sequence(node, at: path, required: parent).enumerated() {
      let field = "\(path)[\(index)]"
      guard let name = choice(item, of: OfferSituationName.self, "situation", at: field) else {
        continue
      }
      if result.contains(name) {
        report("named twice", at: field, item)
      } else {
        result.append(name)
      }
    }
    return result
  }

  private mutating func overrides(_ node: YAMLNode?, at path: String) -> Set<OfferOverride> {
    var result: Set<OfferOverride> = []
    for (index, item) in sequence(node, at: path).enumerated() {
      let field = "\(path)[\(index)]"
      guard let word = choice(item, of: OfferOverride.self, "override", at: field) else { continue }
      if !result.insert(word).inserted { report("named twice", at: field, item) }
    }
    return result
  }

  private mutating func refuse(
    _ node: YAMLNode?, at path: String, allowedFor kind: OfferKindName
  ) {
    guard let node else { return }
    report("allowed only for \(kind.rawValue) offers", at: path, node)
  }
}

/// Raw values are the words of the catalog file.
private enum OfferKindName: String, CaseIterable {
  case promotional
  case introductory

  var kind: OfferKind {
    switch self {
    case .promotional: .promotional
    case .introductory: .introductory
    }
  }
}

/// Raw values are the words of the catalog file.
private enum OfferSituationName: String, CaseIterable {
  case new
  case active
  case cancelled
  case inBillingTrouble = "in_billing_trouble"
  case lapsed
  case refunded

  var situation: OfferSituation {
    switch self {
    case .new: .new
    case .active: .active
    case .cancelled: .cancelled
    case .inBillingTrouble: .inBillingTrouble
    case .lapsed: .lapsed
    case .refunded: .refunded
    }
  }
}
