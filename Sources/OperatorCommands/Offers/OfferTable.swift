import EntitlementDomain
import Wire

/// Offers as text for a terminal.
enum OfferTable {
  /// One line each.
  static func text(of offers: [OfferEligibilityEntry]) -> String {
    var table = TextTable(
      header: ["PRODUCT", "OFFER", "KIND", "ELIGIBLE", "SITUATION", "USES", "ELIGIBLE AT", "WHY"])
    for offer in offers {
      table.add([
        offer.productID.rawValue, offer.offerID?.rawValue ?? "-", name(of: offer.kind),
        offer.isEligible ? "yes" : "no", name(of: offer.situation), "\(offer.uses)",
        offer.eligibleAt?.display ?? "-", why(offer),
      ])
    }
    return table.text
  }

  /// One line for each property. The signature is the last one, as it is long.
  static func details(of response: SignOfferResponse) -> String {
    let offer = response.verdict
    var lines = [
      StateTable.line("product", offer.productID.rawValue),
      StateTable.line("offer", offer.offerID?.rawValue ?? name(of: offer.kind)),
    ]
    if offer.kind == .introductory {
      lines.append(StateTable.line("allowed", response.allowsIntroductoryOffer ? "yes" : "no"))
    }
    lines += [
      StateTable.line("why", why(offer)), StateTable.line("key", response.keyID),
      StateTable.line("nonce", response.nonce),
      StateTable.line("timestamp", "\(response.timestamp.rawValue)"),
    ]
    if let end = response.expiresAt { lines.append(StateTable.line("valid until", end.display)) }
    return (lines + [StateTable.line("signature", response.signature)]).joined(separator: "\n")
  }

  private static func why(_ offer: OfferEligibilityEntry) -> String {
    offer.refusal.map { "\(offer.rule) \(wireName($0)): \(offer.sentence)" } ?? offer.rule
  }

  /// A value that this version does not know is a dash.
  private static func name(of value: (some RawRepresentable<Int>)?) -> String {
    value.map { wireName($0) } ?? "-"
  }
}
