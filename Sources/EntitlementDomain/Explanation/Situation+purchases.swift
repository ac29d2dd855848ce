// The sentences about purchases that do not renew (R10–R13).

extension Situation {
  /// The decision on one purchase.
  ///
  /// - Parameters:
  ///   - index: the index of the window.
  ///   - position: the position of the product's purchases in the history.
  func decision(onWindow index: Int, of position: Int) -> Decision {
    let window = history.purchases[position].windows[index]
    return bareDecision(onWindow: index, of: position)
      .withAuthority(table.transaction(window.fact).authority)
  }

  /// The decision on one purchase, without its authority.
  private func bareDecision(onWindow index: Int, of position: Int) -> Decision {
    let purchases = history.purchases[position]
    let window = purchases.windows[index]
    let subject = table.subject(window.fact)
    let (status, rule) = window.outcome(at: now)
    switch status {
    case .active:
      return active(window, of: purchases, rule: rule, subject: subject)
    case .expired:
      return Decision(
        rule, "\(subject) ran its time: it ended at \((window.accessEnd ?? now).rfc3339).")
    case .revoked:
      return revocation(of: window.fact, subject: subject)
    case .upcoming:
      return rule == 13
        ? Decision(
          13, "\(subject) waits for the purchase before it, and begins at \(window.start.rfc3339).")
        : Decision(rule, "\(subject) has not begun: it starts at \(window.start.rfc3339).")
    case .consumed:
      return Decision(rule, "\(subject) is a consumable without a duration: history only.")
    case .undetermined:
      return rule == 12
        ? Decision(
          12, "\(subject) has no end, as the catalog gives no duration: it confers nothing.")
        : Decision(rule, "\(subject) is of a type that is not known: it confers nothing.")
    case .grace, .billingRetry, .replaced:
      // Not reached: only subscriptions have these.
      return Decision(rule, "\(subject) is \(status.word).")
    }
  }

  private func active(
    _ window: OneTimePurchases.Window, of purchases: OneTimePurchases, rule: Rule, subject: String
  ) -> Decision {
    let start = window.start.rfc3339
    guard let end = window.accessEnd else {
      return Decision(rule, "\(subject) was bought at \(start) and has no end.")
    }
    let until = purchases.accessEnd(from: window)
    guard until != end else {
      return rule == 13
        ? Decision(
          13,
          "\(subject) is in force from \(start), the end of the purchase before it, until "
            + "\(end.rfc3339).")
        : Decision(rule, "\(subject) is in force from \(start) until \(end.rfc3339).")
    }
    let last = until.map { "until \($0.rfc3339)" } ?? "without an end"
    return Decision(
      13,
      "\(subject) is in force from \(start) until \(end.rfc3339), and further purchases follow "
        + "without a gap, \(last).")
  }
}
