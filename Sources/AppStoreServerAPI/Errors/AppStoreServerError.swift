package import EntitlementDomain

/// Why a call to the App Store Server API failed. It never holds a key, a token, an id or a signed
/// payload.
package struct AppStoreServerError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable, CaseIterable {
    /// The request breaks a rule that Apple documents. Nothing was sent.
    case invalidRequest
    /// Xcode and LocalTesting have no server. Nothing was sent.
    case unsupportedEnvironment
    /// No key is configured for the app. Nothing was sent.
    case noKey
    /// The app's key cannot sign. Nothing was sent.
    case keyUnusable
    /// Apple answered with an error: see ``AppStoreServerError/status`` and
    /// ``AppStoreServerError/errorCode``.
    case refused
    /// 401, also with a fresh token: the key, its ids, the bundle id or the clock is wrong, or the
    /// app has no release in Production yet.
    case unauthorized
    /// 429; or this client's own limits allow no request before the deadline.
    case rateLimited
    /// The connection failed, or ended before the answer was complete.
    case unreachable
    /// The deadline passed during a request.
    case deadlineExceeded
    /// The answer is a redirect, or not the JSON that Apple documents.
    case invalidResponse
    /// The answer has more than ``AppStoreServerLimits/responseLength`` bytes.
    case responseTooLong
    /// The pages of a list do not advance, or are more than ``AppStoreServerLimits/pages``.
    case endlessPages
    /// Too many calls are in progress or wait, or no connection was free in time. Nothing was sent.
    case busy
    /// The client is shut down.
    case shutDown
    /// The task was cancelled.
    case cancelled
  }

  package let code: Code
  /// One line for people, without a full stop.
  package let message: String
  /// The HTTP status; nil without an answer.
  package internal(set) var status: Int?
  /// Apple's code; nil if the answer has none.
  package internal(set) var errorCode: AppStoreErrorCode?
  /// Apple's text, bounded and without control characters. It is not part of ``description``.
  package internal(set) var appleMessage: String?
  /// Whether the same call may succeed later: after Apple's retryable codes, any 5xx, 429 and
  /// failures of the transport (app-store.md §6).
  package internal(set) var isRetryable = false
  /// From when on it may, if Apple or the limits of this client say so.
  package internal(set) var retryAt: Milliseconds?
  /// Whether a change may have been made: it was sent, and how it ended is not known.
  package internal(set) var mayHaveTakenEffect = false

  init(_ code: Code, _ message: String, isRetryable: Bool = false) {
    self.code = code
    self.message = message
    self.isRetryable = isRetryable
  }

  package var description: String { "\(code.rawValue): \(message)" }

  /// The error of a request that breaks a rule of Apple's, for callers that check more than the client.
  ///
  /// - Parameter message: without the value at fault.
  package init(invalid message: String) {
    self.init(.invalidRequest, message)
  }

  /// The error of an answer in which Apple says that nothing was changed.
  package init(refusing message: String) {
    self.init(.refused, message)
  }
}

/// `errorCode` of an answer. Its first three digits are the HTTP status. Unknown ones are kept.
package struct AppStoreErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: Int64

  package init(rawValue: Int64) { self.rawValue = rawValue }

  /// No transaction with this id in this environment, a wrong bundle id, or, rarely, an id that
  /// worked before.
  package static let transactionIDNotFound = AppStoreErrorCode(rawValue: 4_040_010)
  /// What is no transaction id.
  package static let invalidTransactionID = AppStoreErrorCode(rawValue: 4_000_006)
  /// No customer of the app has this id.
  package static let accountNotFound = AppStoreErrorCode(rawValue: 4_040_001)
  package static let originalTransactionIDNotFound = AppStoreErrorCode(rawValue: 4_040_005)
  /// The customer has no app transaction.
  package static let appTransactionDoesNotExist = AppStoreErrorCode(rawValue: 4_040_019)
  /// The test notification does not exist, or its result is not known yet.
  package static let testNotificationNotFound = AppStoreErrorCode(rawValue: 4_040_008)

  /// The name in Apple's documentation; nil for an unknown code.
  package var name: String? { Self.names[rawValue] }

  /// Whether Apple documents that the request may be repeated.
  package var isRetryable: Bool { Self.retryable.contains(rawValue) }

  package var description: String {
    name.map { "\(rawValue) \($0)" } ?? String(rawValue)
  }

  private static let retryable: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_001]

  static let names: [Int64: String] = [
    4_000_000: "GeneralBadRequest",
    4_000_002: "InvalidAppIdentifier",
    4_000_005: "InvalidRequestRevision",
    4_000_006: "InvalidTransactionId",
    4_000_008: "InvalidOriginalTransactionId",
    4_000_009: "InvalidExtendByDays",
    4_000_010: "InvalidExtendReasonCode",
    4_000_011: "InvalidRequestIdentifier",
    4_000_012: "StartDateTooFarInPast",
    4_000_013: "StartDateAfterEndDate",
    4_000_014: "InvalidPaginationToken",
    4_000_015: "InvalidStartDate",
    4_000_016: "InvalidEndDate",
    4_000_017: "PaginationTokenExpired",
    4_000_018: "InvalidNotificationType",
    4_000_019: "MultipleFiltersSupplied",
    4_000_020: "InvalidTestNotificationToken",
    4_000_021: "InvalidSort",
    4_000_022: "InvalidProductType",
    4_000_023: "InvalidProductId",
    4_000_024: "InvalidSubscriptionGroupIdentifier",
    4_000_025: "InvalidExcludeRevoked",
    4_000_026: "InvalidInAppOwnershipType",
    4_000_027: "InvalidEmptyStorefrontCountryCodeList",
    4_000_028: "InvalidStorefrontCountryCode",
    4_000_030: "InvalidRevoked",
    4_000_031: "InvalidStatus",
    4_000_032: "InvalidAccountTenure",
    4_000_033: "InvalidAppAccountToken",
    4_000_034: "InvalidConsumptionStatus",
    4_000_035: "InvalidCustomerConsented",
    4_000_036: "InvalidDeliveryStatus",
    4_000_037: "InvalidLifetimeDollarsPurchased",
    4_000_038: "InvalidLifetimeDollarsRefunded",
    4_000_039: "InvalidPlatform",
    4_000_040: "InvalidPlayTime",
    4_000_041: "InvalidSampleContentProvided",
    4_000_042: "InvalidUserStatus",
    4_000_043: "InvalidTransactionNotConsumable",
    4_000_044: "InvalidRefundPreference",
    4_000_047: "InvalidTransactionTypeNotSupported",
    4_000_048: "AppTransactionIdNotSupported",
    4_000_183: "InvalidAppAccountTokenUUID",
    4_000_185: "FamilyTransactionNotSupported",
    4_000_187: "TransactionIdIsNotOriginalTransactionId",
    4_030_004: "SubscriptionExtensionIneligible",
    4_030_005: "SubscriptionMaxExtension",
    4_030_007: "FamilySharedSubscriptionExtensionIneligible",
    4_040_001: "AccountNotFound",
    4_040_002: "AccountNotFoundRetryable",
    4_040_003: "AppNotFound",
    4_040_004: "AppNotFoundRetryable",
    4_040_005: "OriginalTransactionIdNotFound",
    4_040_006: "OriginalTransactionIdNotFoundRetryable",
    4_040_007: "ServerNotificationUrlNotFound",
    4_040_008: "TestNotificationNotFound",
    4_040_009: "StatusRequestNotFound",
    4_040_010: "TransactionIdNotFound",
    4_040_019: "AppTransactionDoesNotExist",
    4_290_000: "RateLimitExceeded",
    5_000_000: "GeneralInternal",
    5_000_001: "GeneralInternalRetryable",
  ]
}
