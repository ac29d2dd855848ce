/// `data.status` of a notification: Apple's own view of an auto-renewable subscription when it
/// signed (R47, appstore.md §2).
package enum SubscriptionStatus: Int64, Hashable, Sendable, CaseIterable {
  case active = 1
  case expired = 2
  case billingRetry = 3
  case grace = 4
  case revoked = 5

  /// What Apple would say of a subscription that stands so; nil where it has no word for it.
  package init?(_ status: DetailedStatus) {
    switch status {
    case .active: self = .active
    case .grace: self = .grace
    case .billingRetry: self = .billingRetry
    case .expired: self = .expired
    case .revoked: self = .revoked
    case .replaced, .upcoming, .consumed, .undetermined: return nil
    }
  }

  /// For people: `GRACE`.
  package var name: String {
    switch self {
    case .active: "ACTIVE"
    case .expired: "EXPIRED"
    case .billingRetry: "BILLING_RETRY"
    case .grace: "GRACE"
    case .revoked: "REVOKED"
    }
  }
}
