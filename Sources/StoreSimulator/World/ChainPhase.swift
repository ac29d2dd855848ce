package import EntitlementDomain

/// Where an auto-renewable chain is at a moment, by its latest transaction and renewal info: the
/// App Store's own bookkeeping. It shares no code with the evaluation, so that tests can compare.
package enum ChainPhase: Hashable, Sendable {
  case active
  /// The period has ended, the charge is retried, and the customer keeps access.
  case grace
  /// The period has ended, and the charge is retried.
  case billingRetry
  case expired
  case revoked

  /// How long Apple retries a charge after the end of a period, in days.
  static let billingRetryDays: Int64 = 60

  package init(
    of transaction: TransactionPayload, _ renewalInfo: RenewalInfoPayload?, at moment: Milliseconds
  ) {
    let end = transaction.expiresDate ?? moment
    if let revoked = transaction.revocationDate, revoked <= moment {
      self = .revoked
    } else if moment < end {
      self = .active
    } else if let grace = renewalInfo?.gracePeriodExpiresDate, moment < grace {
      self = .grace
    } else if renewalInfo?.isInBillingRetryPeriod == true,
      moment < end.adding(days: Self.billingRetryDays)
    {
      self = .billingRetry
    } else {
      self = .expired
    }
  }

  /// `status` of the App Store Server API, and `data.status` of a notification.
  package var status: SubscriptionStatus {
    switch self {
    case .active: .active
    case .grace: .grace
    case .billingRetry: .billingRetry
    case .expired: .expired
    case .revoked: .revoked
    }
  }

  /// The next moment at which the App Store does something about a chain without a request; nil
  /// when nothing will happen.
  ///
  /// - Parameter now: what is overdue is due a millisecond later, so that what is signed then is newer.
  static func nextStep(
    of transaction: TransactionPayload, _ renewalInfo: RenewalInfoPayload, now: Milliseconds
  ) -> Milliseconds? {
    guard transaction.revocationDate == nil, let end = transaction.expiresDate else { return nil }
    let overdue = now.advanced(by: 1)
    if now < end { return end }
    if let grace = renewalInfo.gracePeriodExpiresDate { return max(overdue, grace) }
    if renewalInfo.isInBillingRetryPeriod == true {
      return max(overdue, end.adding(days: billingRetryDays))
    }
    // A chain that has ended has the reason of its end.
    return renewalInfo.expirationIntent == nil ? overdue : nil
  }
}
