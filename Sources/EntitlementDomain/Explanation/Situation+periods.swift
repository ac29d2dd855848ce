// What is said of subscriptions: R15–R24.

extension Situation {
  /// How a chain stands, by the period that decides it.
  ///
  /// - Parameter entitlement: the one that it is asked about; nil for the group.
  func decision(onChain position: Int, for entitlement: EntitlementID?) -> Decision {
    bareDecision(onChain: position, for: entitlement)
      .resting(on: authority(ofChain: position))
  }

  /// The same, without what stands behind it.
  func bareDecision(onChain position: Int, for entitlement: EntitlementID?) -> Decision {
    let chain = history.chains[position]
    let verdict = verdicts[position]
    if let entitlement, verdict.outcome.rule == 15, verdict.outcome.status == .active {
      let origin = evidence.origin(verdict.period.fact)
      let source = sources(of: entitlement).first { $0.origin == origin }
      if let until = source?.until, until > verdict.period.accessEnd {
        return Decision(
          18,
          "\(subject(verdict.period, for: entitlement)) is in force, and what chain "
            + "\(chain.id.name) holds besides follows without a gap, until \(until.rfc3339).")
      }
    }
    return decision(on: verdict.period, outcome: verdict.outcome, for: entitlement)
  }

  /// How a period stands under an outcome, without what stands behind it.
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
      // Of purchases that do not renew only.
      return Decision(outcome.rule, "\(subject) is \(outcome.status.word).")
    }
  }

  private func active(
    _ period: Period, outcome: SubscriptionChain.Outcome, subject: String
  ) -> Decision {
    let unnamed =
      evidence.products[period.product].inCatalog == nil
      ? "; not in the catalog: confers nothing (R14)" : ""
    switch outcome.rule.number {
    case 17:
      return Decision(
        17,
        "\(subject) was upgraded; what replaced it is not known, so access is kept until "
          + "\(period.accessEnd.rfc3339)\(unnamed).")
    case 24:
      return Decision(
        24,
        "\(subject) ended at \(period.end.rfc3339); its renewal is overdue, with leeway until "
          + "\(period.end.advanced(by: history.renewalLeeway).rfc3339)\(unnamed).")
    default:
      return Decision(
        outcome.rule,
        "\(subject) is in force from \(period.start.rfc3339) until "
          + "\(period.accessEnd.rfc3339)\(unnamed).")
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
    guard rule == 17, let replacedAt = period.replacedAt else {
      return Decision(
        rule, "\(subject) ran until \(period.accessEnd.rfc3339); another product decides its chain."
      )
    }
    return Decision(17, "\(subject) was replaced by another product at \(replacedAt.rfc3339).")
  }

  /// R16.
  ///
  /// - Parameter fact: the position of a transaction that is revoked.
  func revocation(of fact: Int, subject: String) -> Decision {
    let transaction = evidence.transaction(fact)
    let date = (transaction.revocationDate ?? now).rfc3339
    if transaction.isShared {
      return Decision(16, "\(subject) was shared or assigned, and that ended at \(date).")
    }
    let part = transaction.revocationType == .refundProrated ? " in part" : ""
    let reason =
      transaction.revocationReason == .appIssue ? ", for an issue with the app" : ""
    return Decision(16, "\(subject) was refunded\(part) at \(date)\(reason).")
  }

  /// What a period says for itself that does not decide its chain.
  func statement(
    on period: Period, of position: Int, for entitlement: EntitlementID?
  ) -> Decision {
    bareStatement(on: period, of: position, for: entitlement)
      .resting(on: evidence.transaction(period.fact).authority)
  }

  private func bareStatement(
    on period: Period, of position: Int, for entitlement: EntitlementID?
  ) -> Decision {
    let subject = subject(period, for: entitlement)
    if period.start > now {
      return decision(
        on: period, outcome: SubscriptionChain.Outcome(.upcoming, 15), for: entitlement)
    }
    if period.isRevoked(at: now) { return revocation(of: period.fact, subject: subject) }
    if period.isReplaced(at: now) { return replaced(period, rule: 17, subject: subject) }
    if period.isInForce(at: now) {
      let decisive = evidence.transaction(verdicts[position].period.fact).transactionID
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

  /// - Parameter entitlement: where the product does not confer it, the sentence says so.
  private func subject(_ period: Period, for entitlement: EntitlementID?) -> String {
    let conferring = entitlement.map { confers(period.product, $0) } ?? true
    return evidence.subject(period.fact)
      + (conferring ? "" : ", which does not confer it,")
  }
}

extension Evidence {
  /// A transaction as the beginning of a sentence.
  ///
  /// - Parameter fact: its position.
  func subject(_ fact: Int) -> String {
    let transaction = transaction(fact)
    return "Transaction \(transaction.transactionID.name) of \(transaction.productID.name)"
  }
}

extension TransactionFact {
  /// Its access came from somebody else's purchase (R25).
  var isShared: Bool {
    ownership == .familyShared || ownership == .assigned || revocationType == .familyRevoke
  }
}
