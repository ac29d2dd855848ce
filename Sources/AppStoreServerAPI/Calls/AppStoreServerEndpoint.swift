/// An endpoint of the App Store Server API. The raw value is its name in metrics and traces.
package enum AppStoreServerEndpoint: String, Hashable, Sendable, CaseIterable {
  case transaction
  case history
  case subscriptionStatuses = "subscription_statuses"
  case refunds
  case order
  case appTransaction = "app_transaction"
  case finish
  case appAccountToken = "app_account_token"
  case consumption
  case legacyConsumption = "legacy_consumption"
  case extendRenewal = "extend_renewal"
  case massExtension = "mass_extension"
  case massExtensionStatus = "mass_extension_status"
  case testNotification = "test_notification"
  case testNotificationStatus = "test_notification_status"
  case notificationHistory = "notification_history"

  /// Requests each second that Apple allows one app in Production. In Sandbox it is a tenth.
  var requestsPerSecond: Double {
    switch self {
    case .transaction, .history, .subscriptionStatuses, .appTransaction, .finish, .consumption,
      .legacyConsumption, .notificationHistory:
      50
    case .appAccountToken, .extendRenewal: 20
    case .refunds, .order: 10
    // Apple publishes no rate for the status of a mass extension.
    case .massExtension, .massExtensionStatus, .testNotification, .testNotificationStatus: 1
    }
  }

  /// Whether a call changes something at Apple.
  var isChange: Bool {
    switch self {
    case .finish, .appAccountToken, .consumption, .legacyConsumption, .extendRenewal,
      .massExtension, .testNotification:
      true
    case .transaction, .history, .subscriptionStatuses, .refunds, .order, .appTransaction,
      .massExtensionStatus, .testNotificationStatus, .notificationHistory:
      false
    }
  }

  /// Whether a call tells about consumption (rules.md, R86–R88). The caller decided just before the call
  /// that the customer consents, so the client waits for nothing and repeats nothing: the caller's job
  /// decides again before another call.
  var tellsConsumption: Bool { self == .consumption || self == .legacyConsumption }

  /// Whether a request may be sent again when it is not known how the first one ended.
  ///
  /// Reads may. Finish and the account token set a state, and set it again. A mass extension with a
  /// known request identifier is answered with 200. A second test notification does no harm. For the
  /// extension of one subscription Apple documents no such protection: a second request could extend
  /// it twice, irreversibly and out of two in a year. Consumption information is sent once.
  var isRepeatable: Bool {
    switch self {
    case .extendRenewal, .consumption, .legacyConsumption: false
    default: true
    }
  }
}
