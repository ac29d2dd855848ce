extension Situation {
  /// What a chain's renewal info says for itself (R19–R24).
  func statement(on renewal: Renewal, of position: Int) -> Decision {
    let chain = history.chains[position]
    let verdict = verdicts[position]
    let period = verdict.period
    // It is signed with the latest charge, which may be that of a period to come (R18).
    let latest =
      verdict.outcome.status == .active
      ? chain.chargedAhead(of: period, at: now).last ?? period : period
    if let misfit = renewal.misfit(to: period), !renewal.isRelevant(to: latest) {
      return Decision(19, Self.sentence(on: misfit))
    }
    return restsOnRenewal(position)
      ? decisive(renewal, outcome: verdict.outcome)
      : intent(of: evidence.renewalInfo(renewal.fact), latest: latest)
  }

  private static func sentence(on misfit: Renewal.Misfit) -> String {
    switch misfit {
    case .otherProduct: "It speaks of another product than that of the period: not used."
    case .earlierPeriod: "It speaks of the renewal of an earlier period: not used."
    case .older: "It is older than the period: not used."
    }
  }

  /// What it said when the period was over.
  private func decisive(_ renewal: Renewal, outcome: SubscriptionChain.Outcome) -> Decision {
    switch (outcome.status, outcome.rule.number) {
    case (.grace, _):
      let end = outcome.graceEnd.map { " until \($0.rfc3339)" } ?? ""
      return Decision(19, "It gives grace\(end).")
    case (.billingRetry, _):
      return Decision(20, "It says that Apple retries the charge.")
    case (.expired, 20):
      return Decision(20, "It said that Apple retries the charge; nothing was heard since.")
    case (_, 24):
      return Decision(24, "It says that auto-renew is on, and tells of no retry.")
    default:
      let autoRenew =
        renewal.autoRenews.map { "auto-renew is \($0 ? "on" : "off")" }
        ?? "nothing of auto-renew"
      let reason = (outcome.reason ?? .unknown).words
      return Decision(21, "It says \(autoRenew); \(reason).")
    }
  }

  /// What it says of the next renewal, which never decides access (R22).
  private func intent(of info: RenewalInfoFact, latest: Period) -> Decision {
    guard let autoRenews = info.autoRenews else {
      return Decision(22, "It does not say whether the subscription renews.")
    }
    guard autoRenews else {
      return Decision(22, "It says that auto-renew is off; that ends no access by itself.")
    }
    if info.priceIncreaseStatus == .pending {
      return Decision(23, "It renews if the customer consents to a higher price.")
    }
    if let next = info.autoRenewProductID, next != evidence.products[latest.product].id {
      return Decision(23, "It says that the subscription renews as \(next.name).")
    }
    return Decision(22, "It says that auto-renew is on.")
  }
}
