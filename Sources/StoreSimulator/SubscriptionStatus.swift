/// `data.status` of a notification: Apple's own view when it signed (R47).
enum SubscriptionStatus: Int64, Sendable {
  case active = 1
  case expired = 2
  case billingRetry = 3
  case grace = 4
  case revoked = 5
}
