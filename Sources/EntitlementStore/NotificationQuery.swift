package import EntitlementDomain

/// Which of the stored notifications to list, newest first.
package struct NotificationQuery: Hashable, Sendable {
  /// A place in the order of a store, of which only that store knows the meaning.
  package struct Place: Hashable, Sendable {
    package var number: Int64
    package var uuid: String

    package init(number: Int64, uuid: String = "") {
      self.number = number
      self.uuid = uuid
    }
  }

  /// Only of this app; nil: all, with those that name no app.
  package var bundleID: BundleID?
  /// Only of this environment; nil: all.
  package var environment: StoreEnvironment?
  /// Only with this notificationType.
  package var type: String?
  /// Only those received at this moment or later.
  package var since: Milliseconds?
  /// Where the previous page ended; nil: from the newest one.
  package var after: Place?
  /// Maximum number of notifications in the page.
  package var limit: Int
  /// How many stored notifications a page looks through. A filter that few of them pass would
  /// otherwise read them all, and they are kept for ever.
  package var scanLimit: Int

  package static let defaultScanLimit = 1_000

  package init(
    bundleID: BundleID? = nil, environment: StoreEnvironment? = nil, type: String? = nil,
    since: Milliseconds? = nil, after: Place? = nil, limit: Int,
    scanLimit: Int = defaultScanLimit
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.type = type
    self.since = since
    self.after = after
    self.limit = limit
    self.scanLimit = scanLimit
  }
}

/// Some of the notifications that a query selects.
package struct NotificationPage: Hashable, Sendable {
  /// Newest first. There may be none before the end too.
  package var notifications: [ListedNotification]
  /// Where the next page begins; nil at the end.
  package var next: NotificationQuery.Place?

  package init(notifications: [ListedNotification], next: NotificationQuery.Place?) {
    self.notifications = notifications
    self.next = next
  }
}

/// A stored notification without its signed payload.
package struct ListedNotification: Hashable, Sendable {
  package var received: ReceivedRecord
  /// The first chain that its facts are about; nil for none.
  package var chain: OriginalTransactionID?

  package init(received: ReceivedRecord, chain: OriginalTransactionID?) {
    self.received = received
    self.chain = chain
  }
}
