import EntitlementDomain

/// What the review of a notification found (R47), and where it is told.
struct NotificationFindings {
  /// At least one.
  let events: [FeedEvent]
  let scopeID: Int64
  /// Whom the notification is about; nil when no customer is known.
  let customer: CustomerRow?
}
