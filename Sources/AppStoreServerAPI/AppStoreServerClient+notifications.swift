import AppStorePayloads
package import EntitlementDomain
package import NIOCore
import NIOHTTP1

// The endpoints about App Store Server Notifications. Each throws ``AppStoreServerError``.

extension AppStoreServerClient {
  /// Request a Test Notification to the URL of the app.
  ///
  /// - Returns: the token for ``testNotification(_:in:deadline:)``.
  package func requestTestNotification(
    in app: AppScope, deadline: NIODeadline
  ) async throws(AppStoreServerError) -> String {
    let request = try AppStoreServerRequest(.testNotification, .POST, "v1/notifications/test")
    return try await call(request, in: app, deadline: deadline) { (fields) throws(PayloadError) in
      try fields.requiredIdentifier("testNotificationToken")
    }
  }

  /// Get Test Notification Status. ``AppStoreErrorCode/testNotificationNotFound`` also means that
  /// the result is not known yet.
  package func testNotification(
    _ token: String, in app: AppScope, deadline: NIODeadline
  ) async throws(AppStoreServerError) -> SentNotification {
    let request = try AppStoreServerRequest(
      .testNotificationStatus, .GET, "v1/notifications/test/{testNotificationToken}",
      ["testNotificationToken": token])
    return try await call(request, in: app, deadline: deadline) {
      (fields) throws(PayloadError) in try SentNotification(fields)
    }
  }

  /// Get Notification History: one page of the notifications that were sent, or failed.
  ///
  /// - Parameter paginationToken: of the former page; nil for the first page.
  package func notifications(
    in app: AppScope, matching query: NotificationHistoryQuery,
    from paginationToken: String? = nil, deadline: NIODeadline
  ) async throws(AppStoreServerError) -> SentNotificationPage {
    let request = try AppStoreServerRequest(
      .notificationHistory, .POST, "v1/notifications/history",
      query: [("paginationToken", paginationToken)], body: query.body)
    let page = try await call(request, in: app, deadline: deadline) {
      (fields) throws(PayloadError) in try SentNotificationPage(fields)
    }
    return try advanced(page, from: paginationToken)
  }

  /// The pages of ``notifications(in:matching:from:deadline:)``, all before one deadline.
  package func notificationPages(
    in app: AppScope, matching query: NotificationHistoryQuery,
    from paginationToken: String? = nil, deadline: NIODeadline
  ) -> AppStorePages<SentNotificationPage> {
    AppStorePages(from: paginationToken, limit: limits.pages) {
      (position) async throws(AppStoreServerError) in
      try await self.notifications(
        in: app, matching: query, from: position, deadline: deadline)
    }
  }
}
