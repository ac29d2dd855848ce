// The texts in the sentences of explanations.

extension Decision {
  /// A decision whose sentence is truncated to ``ExplanationBounds/sentence``.
  init(_ rule: Rule, _ sentence: String) {
    self.init(rule: rule, sentence: sentence.bounded(toBytes: ExplanationBounds.sentence))
  }

  /// The decision with a sentence about its authority, if that is lower than a JWS (R51).
  ///
  /// - Parameter authority: nil when the decision does not depend on a fact of the App Store.
  func withAuthority(_ authority: FactAuthority?) -> Decision {
    let addition: String
    switch authority {
    case .receipt: addition = " A legacy receipt says so."
    case .archivedResponse: addition = " An unsigned import says so."
    case .signedTransaction, nil: return self
    }
    // The addition is important, so a long sentence is truncated in front of it.
    let limit = ExplanationBounds.sentence - addition.utf8.count
    return Decision(rule: rule, sentence: sentence.bounded(toBytes: limit) + addition)
  }
}

extension Identifier {
  /// The identifier in a sentence, without the middle if it is long.
  var name: String { rawValue.nameInSentence }
}

extension String {
  /// The text in a sentence. Of a long text only the beginning and the end are kept.
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
  /// The status in a sentence.
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
  /// The reason in a sentence (R21).
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
