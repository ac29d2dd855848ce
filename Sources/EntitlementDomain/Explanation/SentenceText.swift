// The words of an explanation's sentences.

extension Decision {
  init(_ rule: Rule, _ sentence: String) {
    self.init(rule: rule, sentence: sentence.bounded(toBytes: ExplanationBounds.sentence))
  }
}

extension Identifier {
  /// The identifier as sentences name it: a long one without its middle.
  var name: String { rawValue.nameInSentence }
}

extension String {
  /// As much of a text from outside as a sentence takes: the beginning and the end.
  var nameInSentence: String {
    guard utf8.count > ExplanationBounds.identifier else { return self }
    let mark = "…"
    let kept = ExplanationBounds.identifierEnd
    let end = String(String.UnicodeScalarView(unicodeScalars.reversed().prefix(kept)))
      .bounded(toBytes: kept)
    let length = ExplanationBounds.identifier - mark.utf8.count - kept
    return bounded(toBytes: length) + mark
      + String(String.UnicodeScalarView(end.unicodeScalars.reversed()))
  }
}

extension DetailedStatus {
  /// As sentences name it.
  var word: String {
    switch self {
    case .active: "active"
    case .grace: "in grace"
    case .billingRetry: "in billing retry"
    case .expired: "expired"
    case .revoked: "revoked"
    case .replaced: "replaced"
    case .upcoming: "upcoming"
    case .consumed: "consumed"
    case .undetermined: "undetermined"
    }
  }
}

extension ExpirationReason {
  /// As sentences name it (R21).
  var words: String {
    switch self {
    case .unknown: "Apple gave no reason"
    case .customerCancelled: "the customer cancelled"
    case .billingError: "a charge failed"
    case .priceIncreaseDeclined: "the customer did not consent to a price increase"
    case .productUnavailable: "the product was not for sale"
    case .other: "for another reason"
    case .ended: "it ran its time"
    }
  }
}
