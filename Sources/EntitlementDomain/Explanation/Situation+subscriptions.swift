// The sentences about subscriptions (R15–R24, R56–R60).

extension Situation {
  /// The decision on a chain, by its deciding period.
  ///
  /// - Parameter entitlement: the entitlement to explain; nil to explain the group.
  func decision(onChain position: Int, for entitlement: EntitlementID?) -> Decision {
    bareDecision(onChain: position, for: entitlement)
      .withAuthority(authority(ofChain: position))
  }

  /// The decision on a chain, without its authority.
  func bareDecision(onChain position: Int, for entitlement: EntitlementID?) -> Decision {
    let chain = history.chains[position]
    let verdict = verdicts[position]
    let decision = decision(on: verdict.period, outcome: verdict.outcome, for: entitlement)
    guard let entitlement, let until = until(of: entitlement, onChain: position) else {
      return decision
    }
    let subject = subject(verdict.period, for: entitlement)
    // Grace or leeway alone is no reason yet: the period itself is in force.
    let periodEnd = verdict.period.accessEnd
    if verdict.outcome.rule == 15, until > periodEnd,
      chain.periods.contains(where: { $0.accessStart <= periodEnd && $0.accessEnd > periodEnd })
    {
      return Decision(
        18,
        "\(subject) is in force, and by what else is known of chain \(chain.id.name) access goes on "
          + "without a gap, until \(until.rfc3339).")
    }
    let end = verdict.outcome.graceEnd ?? verdict.period.accessEnd
    if verdict.outcome.rule == 15 || verdict.outcome.rule == 19, until < end {
      return Decision(
        verdict.outcome.rule,
        "\(subject) is \(verdict.outcome.status == .grace ? "in grace" : "in force") until "
          + "\(until.rfc3339), when a period that does not confer it goes before it.")
    }
    return decision
  }

  /// The end of a chain as a source of an entitlement (R58); nil when it is none.
  private func until(of entitlement: EntitlementID, onChain position: Int) -> Milliseconds? {
    let verdict = verdicts[position]
    guard verdict.outcome.isActive, confers(verdict.period.product, entitlement) else { return nil }
    return history.chains[position].conferringEnds(
      of: CollectionOfOne(entitlement), by: verdict.period, verdict.outcome, in: history, at: now
    ).first
  }

  /// The decision on a period with an outcome, without its authority.
  func decision(
    on period: Period, outcome: SubscriptionChain.Outcome, for entitlement: EntitlementID?
  ) -> Decision {
    let subject = subject(period, for: entitlement)
    switch outcome.status {
    case .active:
      return active(period, outcome: outcome, subject: subject)
    case .grace:
      return Decision(
        outcome.rule,
        "\(subject) ended at \(period.end.rfc3339); its renewal was not charged, and Apple gives "
          + "grace until \((outcome.graceEnd ?? period.end).rfc3339).")
    case .billingRetry:
      let end = period.end.advanced(by: SubscriptionChain.billingRetryLength)
      return Decision(
        outcome.rule,
        "\(subject) ended at \(period.end.rfc3339); Apple retries the charge, without access, "
          + "until \(end.rfc3339) at most.")
    case .expired:
      return expired(period, outcome: outcome, subject: subject)
    case .revoked:
      return revocation(of: period.fact, subject: subject)
    case .upcoming:
      return Decision(
        outcome.rule,
        "\(subject) has not begun: it runs from \(period.start.rfc3339) to "
          + "\(period.end.rfc3339).")
    case .replaced:
      return replaced(period, rule: outcome.rule, subject: subject)
    case .consumed, .undetermined:
      // Not reached: only purchases that do not renew have these.
      return Decision(outcome.rule, "\(subject) is \(outcome.status.word).")
    }
  }

  private func active(
    _ period: Period, outcome: SubscriptionChain.Outcome, subject: String
  ) -> Decision {
    let unnamed =
      !table.products[period.product].isInCatalog
      ? "; not in the catalog: confers nothing (R14)" : ""
    switch outcome.rule.number {
    case 17:
      return Decision(
        17,
        "\(subject) was upgraded; what replaced it is not known, so access is kept until "
          + "\(period.accessEnd.rfc3339)\(unnamed).")
    case 60:
      return Decision(
        60,
        "\(subject) renews a period that is not known; it was charged ahead, so access is given from "
          + "its signing until \(period.accessEnd.rfc3339)\(unnamed).")
    case 24:
      return Decision(
        24,
        "\(subject) ended at \(period.end.rfc3339); its renewal is overdue, with leeway until "
          + "\(period.end.advanced(by: history.renewalLeeway).rfc3339)\(unnamed).")
    default:
      let successor =
        period.replacedAt == period.accessEnd ? ", when another product replaces it" : ""
      return Decision(
        outcome.rule,
        "\(subject) is in force from \(period.start.rfc3339) until "
          + "\(period.accessEnd.rfc3339)\(successor)\(unnamed).")
    }
  }

  private func expired(
    _ period: Period, outcome: SubscriptionChain.Outcome, subject: String
  ) -> Decision {
    if !period.hasEnd {
      return Decision(outcome.rule, "\(subject) names no expiresDate, so it gives no access.")
    }
    let ended = "\(subject) ended at \(period.end.rfc3339)"
    switch outcome.rule.number {
    case 20:
      return Decision(
        20, "\(ended), and 60 days of billing retry passed without news: expired for billing.")
    case 24:
      return Decision(
        24, "\(ended) with auto-renew on, and no renewal is known: expired, its renewal overdue.")
    default:
      return Decision(
        outcome.rule, "\(ended) and has expired: \((outcome.reason ?? .unknown).words).")
    }
  }

  private func replaced(_ period: Period, rule: Rule, subject: String) -> Decision {
    guard rule == 17 else {
      return Decision(
        rule, "\(subject) ran until \(period.accessEnd.rfc3339); another product decides its chain."
      )
    }
    guard let replacedAt = period.replacedAt else {
      return Decision(
        17,
        "\(subject) was upgraded, and what was left of it was taken back at "
          + "\(period.accessEnd.rfc3339); what replaced it is not known.")
    }
    guard period.isReplacedBeforeStart else {
      return Decision(17, "\(subject) was replaced by another product at \(replacedAt.rfc3339).")
    }
    return Decision(
      62,
      "\(subject) was charged ahead; another product replaced it at \(replacedAt.rfc3339), before it "
        + "began at \(period.start.rfc3339).")
  }

  /// The decision on a revocation (R16).
  ///
  /// - Parameter fact: the position of a revoked transaction.
  func revocation(of fact: Int, subject: String) -> Decision {
    let transaction = table.transaction(fact)
    let date = (transaction.revocationDate ?? now).rfc3339
    if transaction.isShared {
      return Decision(16, "\(subject) was shared or assigned, and that ended at \(date).")
    }
    let part = transaction.revocationType == .refundProrated ? " in part" : ""
    let reason =
      transaction.revocationReason == .appIssue ? ", for an issue with the app" : ""
    return Decision(16, "\(subject) was refunded\(part) at \(date)\(reason).")
  }

  /// The statement about a period that does not decide its chain.
  func statement(
    on period: Period, of position: Int, for entitlement: EntitlementID?
  ) -> Decision {
    bareStatement(on: period, of: position, for: entitlement)
      .withAuthority(table.transaction(period.fact).authority)
  }

  private func bareStatement(
    on period: Period, of position: Int, for entitlement: EntitlementID?
  ) -> Decision {
    let subject = subject(period, for: entitlement)
    let isReplaced = period.isReplaced(at: now)
    if period.accessStart > now, !isReplaced {
      return decision(
        on: period, outcome: SubscriptionChain.Outcome(.upcoming, 15), for: entitlement)
    }
    if period.isRevoked(at: now), !period.isUpgraded {
      return revocation(of: period.fact, subject: subject)
    }
    if isReplaced { return replaced(period, rule: 17, subject: subject) }
    if period.isInForce(at: now) {
      let decisive = table.transaction(verdicts[position].period.fact).transactionID
      return Decision(
        18,
        "\(subject) is in force until \(period.accessEnd.rfc3339), but transaction "
          + "\(decisive.name) goes before it.")
    }
    if !period.hasEnd {
      return Decision(15, "\(subject) names no expiresDate, so it gives no access.")
    }
    return Decision(
      15, "\(subject) was in force from \(period.start.rfc3339) until \(period.end.rfc3339).")
  }

  /// The subject of a sentence about a period.
  ///
  /// - Parameter entitlement: the entitlement to explain. If the product does not confer it, the
  ///   subject says so.
  private func subject(_ period: Period, for entitlement: EntitlementID?) -> String {
    let conferring = entitlement.map { confers(period.product, $0) } ?? true
    return table.subject(period.fact)
      + (conferring ? "" : ", which does not confer it,")
  }
}

extension FactTable {
  /// The subject of a sentence about a transaction.
  ///
  /// - Parameter fact: the position of the transaction.
  func subject(_ fact: Int) -> String {
    let transaction = transaction(fact)
    return "Transaction \(transaction.transactionID.name) of \(transaction.productID.name)"
  }
}

extension TransactionFact {
  /// Whether the access comes from another customer's purchase, or from an assignment (R25).
  var isShared: Bool {
    ownership == .familyShared || ownership == .assigned || revocationType == .familyRevoke
  }
}

extension Situation {
  /// The statement about a chain's renewal info (R19–R24, R56, R57).
  func statement(on renewal: Renewal, of position: Int) -> Decision {
    let chain = history.chains[position]
    let verdict = verdicts[position]
    let period = verdict.period
    // The latest charge, which may be that of a later period, decides the next renewal (R18).
    let latest =
      verdict.outcome.status == .active
      ? chain.chargedAhead(of: period, at: now).last ?? period : period
    switch renewal.relation(to: latest) {
    case .none(let mismatch):
      // An earlier period that it speaks of may be the one that decides.
      return Decision(
        56,
        renewal.speaks(of: period)
          ? "It speaks of this period, which has been renewed: not used." : mismatch.sentence)
    case .autoRenew:
      return verdict.outcome.rule == 24
        ? Decision(24, "It says of an earlier period that auto-renew is on; no renewal is known.")
        : Decision(57, "It says of an earlier period that auto-renew is on; that still counts.")
    case .subject:
      return dependsOnRenewal(position)
        ? decisive(renewal, outcome: verdict.outcome)
        : intent(of: table.renewalInfo(renewal.fact), latest: latest)
    }
  }

  /// The statement about a renewal info that decides after the period's end.
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

  /// The statement about the next renewal, which never decides access (R22).
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
    if let next = info.autoRenewProductID, next != table.products[latest.product].id {
      return Decision(23, "It says that the subscription renews as \(next.name).")
    }
    return Decision(22, "It says that auto-renew is on.")
  }
}

extension Renewal.Mismatch {
  /// The sentence about a renewal info that says nothing of a period (R56, R57).
  fileprivate var sentence: String {
    switch self {
    case .otherProduct: "It speaks of another product than that of the period: not used."
    case .earlierPeriod: "It speaks of the renewal of an earlier period: not used."
    case .renewedSince:
      "It says that auto-renew was off, but the subscription was renewed since: not used."
    case .older: "It is older than the period: not used."
    case .laterPeriod: "It speaks of a later period: not used."
    case .laterSubscription:
      "It speaks of a later subscription, of which no transaction is known: not used."
    }
  }
}
