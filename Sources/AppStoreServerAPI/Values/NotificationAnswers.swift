import AppStorePayloads
package import EntitlementDomain

/// A notification that the App Store has sent, or tries to send.
package struct SentNotification: Hashable, Sendable {
  /// JWS as it was first sent, so it may be out of date. Not verified.
  package let signedPayload: String
  /// At most six, the retries included.
  package let sendAttempts: [SendAttempt]

  init(_ fields: PayloadFields) throws(PayloadError) {
    signedPayload = try fields.requiredIdentifier("signedPayload")
    var attempts: [SendAttempt] = []
    for attempt in try fields.objects("sendAttempts") ?? [] {
      attempts.append(try SendAttempt(attempt))
    }
    sendAttempts = attempts
  }
}

/// One attempt of the App Store to deliver a notification.
package struct SendAttempt: Hashable, Sendable {
  package let date: Milliseconds
  /// `sendAttemptResult`, such as `TIMED_OUT`, known or unknown (R10).
  package let result: String

  package var wasDelivered: Bool { result == "SUCCESS" }

  fileprivate init(_ fields: PayloadFields) throws(PayloadError) {
    date = try fields.requiredMoment("attemptDate")
    result = try fields.requiredIdentifier("sendAttemptResult")
  }
}

/// A page of notifications, with at most 20 of them. Apple documents no order.
package struct SentNotificationPage: Hashable, AppStorePage {
  package let notifications: [SentNotification]
  package let hasMore: Bool
  /// The position of the next page. It expires.
  package let paginationToken: String?

  package var next: String? { hasMore ? paginationToken : nil }

  init(_ fields: PayloadFields) throws(PayloadError) {
    var notifications: [SentNotification] = []
    let name: StaticString = "notificationHistory"
    for notification in try fields.required(name, try fields.objects(name)) {
      notifications.append(try SentNotification(notification))
    }
    self.notifications = notifications
    hasMore = try fields.required("hasMore", try fields.boolean("hasMore"))
    let token = try fields.identifier("paginationToken")
    paginationToken = hasMore ? try fields.required("paginationToken", token) : token
  }
}
