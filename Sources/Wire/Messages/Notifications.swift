import CEntitleMessages
package import EntitlementDomain

/// Request of `ListNotifications`: the notifications that were received, newest first.
package struct ListNotificationsRequest: Hashable, Sendable {
  /// Only this app; nil: all, with notifications that name no app.
  package var bundleID: BundleID?
  /// Only this environment; nil: all.
  package var environment: StoreEnvironment?
  /// Only this notificationType, as Apple writes it, such as "TEST".
  package var notificationType: String?
  /// Only those received at this moment or later.
  package var since: Milliseconds?
  /// Maximum number of notifications in the page; 0: the default.
  package var pageSize: Int
  /// The token of the previous page; nil for the first page.
  package var pageToken: String?

  package init(
    bundleID: BundleID? = nil, environment: StoreEnvironment? = nil,
    notificationType: String? = nil, since: Milliseconds? = nil, pageSize: Int = 0,
    pageToken: String? = nil
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.notificationType = notificationType
    self.since = since
    self.pageSize = pageSize
    self.pageToken = pageToken
  }
}

extension ListNotificationsRequest {
  private static let pageTokenLength = 1_024

  init(reading message: Entitle__V1__ListNotificationsRequest) throws(MessageError) {
    bundleID = try Self.bounded(
      message.bundle_id, "bundle_id", limit: MessageLimits.identifierLength)
    environment = try Self.anyEnvironment(message.environment)
    notificationType = try Self.bounded(
      message.notification_type, "notification_type", limit: Self.maximumNotificationTypeLength)
    since = message.has_since_ms_case.isSet ? Milliseconds(message.since_ms) : nil
    pageSize = try Self.pageSize(message.page_size, "page_size")
    pageToken = try Self.bounded(
      message.page_token, "page_token", limit: Self.pageTokenLength)
  }

  func write(
    to message: inout Entitle__V1__ListNotificationsRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(bundleID, "bundle_id", in: arena)
    if let environment { message.environment = environment.number }
    message.notification_type = try Self.text(notificationType, "notification_type", in: arena)
    if let since {
      message.has_since_ms_case =
        ENTITLE__V1__LIST_NOTIFICATIONS_REQUEST__HAS_SINCE_MS_SINCE_MS
      message.since_ms = since.rawValue
    }
    message.page_size = Int32(clamping: pageSize)
    message.page_token = try Self.text(pageToken, "page_token", in: arena)
  }
}

/// A notification that was received, with what it is about.
package struct ReceivedNotificationEntry: Hashable, Sendable {
  package var notificationUUID: NotificationUUID
  /// As Apple sent it.
  package var notificationType: String
  package var subtype: String?
  /// Nil when it names no app.
  package var scope: AppScope?
  /// When Apple signed it; nil when it has no date.
  package var signedDate: Milliseconds?
  /// When the server received it first.
  package var receivedAt: Milliseconds
  /// The first chain that it is about; nil when it is about none.
  package var originalTransactionID: OriginalTransactionID?
  /// The status of the subscription as Apple saw it.
  package var status: Int64?

  package init(
    notificationUUID: NotificationUUID, notificationType: String, subtype: String? = nil,
    scope: AppScope? = nil, signedDate: Milliseconds? = nil, receivedAt: Milliseconds,
    originalTransactionID: OriginalTransactionID? = nil, status: Int64? = nil
  ) {
    self.notificationUUID = notificationUUID
    self.notificationType = notificationType
    self.subtype = subtype
    self.scope = scope
    self.signedDate = signedDate
    self.receivedAt = receivedAt
    self.originalTransactionID = originalTransactionID
    self.status = status
  }
}

extension ReceivedNotificationEntry {
  init(reading message: Entitle__V1__ReceivedNotification) throws(MessageError) {
    notificationUUID = Self.identifier(message.notification_uuid)
    notificationType = Self.text(message.notification_type)
    subtype = Self.optionalText(message.subtype)
    // Only both together name an app.
    if let bundleID: BundleID = Self.optionalIdentifier(message.bundle_id) {
      let environment = try Self.required(
        message.environment, as: StoreEnvironment.self, "environment")
      scope = AppScope(bundleID: bundleID, environment: environment)
    }
    signedDate = message.has_signed_date_ms_case.isSet ? Milliseconds(message.signed_date_ms) : nil
    receivedAt = Milliseconds(message.received_at_ms)
    originalTransactionID = Self.optionalIdentifier(message.original_transaction_id)
    status = message.has_status_case.isSet ? message.status : nil
  }

  func write(
    to message: inout Entitle__V1__ReceivedNotification, in arena: MessageArena
  ) throws(MessageError) {
    message.notification_uuid = try Self.text(notificationUUID, "notification_uuid", in: arena)
    message.notification_type = try Self.text(notificationType, "notification_type", in: arena)
    message.subtype = try Self.text(subtype, "subtype", in: arena)
    if let scope {
      message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
      message.environment = scope.environment.number
    }
    if let signedDate {
      message.has_signed_date_ms_case =
        ENTITLE__V1__RECEIVED_NOTIFICATION__HAS_SIGNED_DATE_MS_SIGNED_DATE_MS
      message.signed_date_ms = signedDate.rawValue
    }
    message.received_at_ms = receivedAt.rawValue
    message.original_transaction_id = try Self.text(
      originalTransactionID, "original_transaction_id", in: arena)
    if let status {
      message.has_status_case = ENTITLE__V1__RECEIVED_NOTIFICATION__HAS_STATUS_STATUS
      message.status = status
    }
  }
}
