/// Why nothing is sent for a consumption request (R86–R88). Raw values are stored and the numbers on
/// the wire.
package enum ConsumptionCause: Int, Hashable, Sendable, CaseIterable {
  /// The catalog has no policy for the product.
  case policyMissing = 1
  /// The owner's consent was never recorded.
  case consentMissing = 2
  /// The owner has not consented, or not any more.
  case consentRefused = 3
  /// Another customer paid: Apple takes no information about shared and assigned purchases.
  case purchaseShared = 4
  /// The purchase is refunded or revoked already.
  case purchaseRevoked = 5
  /// The purchase was not known until the deadline.
  case purchaseUnknown = 6
  /// At the deadline the purchase belonged to no account, so no account could have consented.
  case ownerUnknown = 7
  /// The backend stated no percentage until the deadline, which the policy requires.
  case percentageMissing = 8
  /// It could not be sent until the deadline.
  case deadlinePassed = 9
  /// The deadline had passed when the request arrived.
  case arrivedLate = 10
  /// Apple refused the information.
  case appleRefused = 11
  /// It was perhaps sent: how the call ended is not known. It is not repeated.
  case outcomeUncertain = 12
  /// An operator cancelled its job.
  case jobCancelled = 13

  /// The name on the wire, such as `CONSENT_MISSING`.
  package var name: String {
    switch self {
    case .policyMissing: "POLICY_MISSING"
    case .consentMissing: "CONSENT_MISSING"
    case .consentRefused: "CONSENT_REFUSED"
    case .purchaseShared: "PURCHASE_SHARED"
    case .purchaseRevoked: "PURCHASE_REVOKED"
    case .purchaseUnknown: "PURCHASE_UNKNOWN"
    case .ownerUnknown: "OWNER_UNKNOWN"
    case .percentageMissing: "PERCENTAGE_MISSING"
    case .deadlinePassed: "DEADLINE_PASSED"
    case .arrivedLate: "ARRIVED_LATE"
    case .appleRefused: "APPLE_REFUSED"
    case .outcomeUncertain: "OUTCOME_UNCERTAIN"
    case .jobCancelled: "JOB_CANCELLED"
    }
  }
}

/// What is done about a consumption request at one moment.
package enum ConsumptionDecision: Hashable, Sendable {
  case send(ConsumptionInformation)
  /// Something is missing that may still come. At the deadline the request ends with this cause.
  case wait(ConsumptionCause)
  case end(ConsumptionCause)
}

/// All that the decision about a consumption request depends on (R87). It is pure: the moment is an
/// argument.
package struct ConsumptionSituation: Hashable, Sendable {
  /// How long before the deadline the last call may begin, in milliseconds: it may take most of a
  /// minute.
  package static let callTime = Milliseconds.secondsLength * 60

  /// By Apple's clock.
  package var deadline: Milliseconds
  /// The standing version; nil while the purchase is not known.
  package var transaction: TransactionFact?
  /// Whether an account owns the purchase.
  package var isOwned: Bool
  /// What the owner said; nil when nothing is recorded.
  package var consent: Bool?
  /// What the backend says of the purchase.
  package var statement: ConsumptionStatement
  /// Of the purchase's product; nil when the catalog has none.
  package var policy: ConsumptionPolicy?

  package init(
    deadline: Milliseconds, transaction: TransactionFact?, isOwned: Bool, consent: Bool?,
    statement: ConsumptionStatement = ConsumptionStatement(), policy: ConsumptionPolicy?
  ) {
    self.deadline = deadline
    self.transaction = transaction
    self.isOwned = isOwned
    self.consent = consent
    self.statement = statement
    self.policy = policy
  }

  /// R87. What can never be sent ends at once. What may still come is waited for until the deadline.
  package func decision(at now: Milliseconds) -> ConsumptionDecision {
    let isLate = now.advanced(by: Self.callTime) >= deadline
    func lacking(_ cause: ConsumptionCause) -> ConsumptionDecision {
      isLate ? .end(cause) : .wait(cause)
    }
    guard let transaction else { return lacking(.purchaseUnknown) }
    if transaction.revocationDate != nil { return .end(.purchaseRevoked) }
    if (transaction.ownership ?? .purchased) != .purchased { return .end(.purchaseShared) }
    guard let policy else { return .end(.policyMissing) }
    guard isOwned else { return lacking(.ownerUnknown) }
    switch consent {
    case nil: return .end(.consentMissing)
    case false?: return .end(.consentRefused)
    case true?: break
    }
    guard let information = information(of: transaction, policy) else {
      return lacking(.percentageMissing)
    }
    return isLate ? .end(.deadlinePassed) : .send(information)
  }

  /// Nil without the percentage that the policy requires.
  private func information(
    of transaction: TransactionFact, _ policy: ConsumptionPolicy
  ) -> ConsumptionInformation? {
    var information = ConsumptionInformation(
      customerConsented: true, sampleContentProvided: policy.sampleContentProvided,
      deliveryStatus: statement.deliveryStatus ?? policy.deliveryStatus,
      refundPreference: policy.refundPreference)
    // Apple computes it, and refuses one (4000209).
    if transaction.type == .autoRenewable { return information }
    if let source = policy.percentage {
      switch source {
      // Nothing is consumed of what was not delivered; Apple refuses any other value.
      case _ where information.deliveryStatus != .delivered:
        information.consumptionPercentage = 0
      case .fixed(let percentage): information.consumptionPercentage = percentage
      case .optional: information.consumptionPercentage = statement.percentage
      case .required:
        guard let percentage = statement.percentage else { return nil }
        information.consumptionPercentage = percentage
      }
    }
    // Apple prorates what is partly consumed only. What is sent has no preference then.
    if information.refundPreference == .grantProrated,
      !(1..<ConsumptionInformation.allConsumed).contains(information.consumptionPercentage ?? 0)
    {
      information.refundPreference = nil
    }
    return information
  }
}
