extension Decision {
  /// The same, with what stands behind it where that is less than a JWS (R51).
  ///
  /// - Parameter authority: nil where nothing of the App Store's does.
  func resting(on authority: FactAuthority?) -> Decision {
    let addition: String
    switch authority {
    case .receipt: addition = " A legacy receipt says so."
    case .archivedResponse: addition = " An unsigned import says so."
    case .signedTransaction, nil: return self
    }
    // It is what a reader must not miss: rather the end of a long sentence is cut.
    let limit = ExplanationBounds.sentence - addition.utf8.count
    return Decision(rule: rule, sentence: sentence.bounded(toBytes: limit) + addition)
  }
}

extension Situation {
  /// What stands behind how a chain stands: the weaker of its deciding period and of the renewal
  /// info, where that had a say.
  func authority(ofChain position: Int) -> FactAuthority {
    let authority = evidence.transaction(verdicts[position].period.fact).authority
    guard restsOnRenewal(position), let renewal = history.chains[position].renewal else {
      return authority
    }
    return min(authority, evidence.renewalInfo(renewal.fact).authority)
  }
}
