import StoreSimulator

/// An error of the App Store Server API: its code, whose first three digits are the status, and
/// Apple's message. Source: https://developer.apple.com/documentation/appstoreserverapi/error_codes.
package struct SimulatedAPIError: Error, Hashable, Sendable {
  package let code: Int64

  package init(_ code: Int64) {
    self.code = code
  }

  var status: Int { Int(code / 10_000) }

  var message: String { Self.messages[code] ?? "An unknown error occurred." }

  var answer: StoreAnswer {
    var writer = JSONObjectWriter()
    writer.set("errorCode", code)
    writer.set("errorMessage", message)
    return .json(writer, status: status)
  }

  /// Whether it is one that this server can be asked to give.
  package var isKnown: Bool { Self.messages[code] != nil }

  static let badRequest = SimulatedAPIError(4_000_000)
  static let invalidRevision = SimulatedAPIError(4_000_005)
  static let invalidTransactionID = SimulatedAPIError(4_000_006)
  static let invalidOriginalTransactionID = SimulatedAPIError(4_000_008)
  static let invalidExtendByDays = SimulatedAPIError(4_000_009)
  static let invalidExtendReason = SimulatedAPIError(4_000_010)
  static let invalidRequestIdentifier = SimulatedAPIError(4_000_011)
  static let startTooFarInPast = SimulatedAPIError(4_000_012)
  static let startAfterEnd = SimulatedAPIError(4_000_013)
  static let invalidPaginationToken = SimulatedAPIError(4_000_014)
  static let invalidStartDate = SimulatedAPIError(4_000_015)
  static let invalidEndDate = SimulatedAPIError(4_000_016)
  static let invalidNotificationType = SimulatedAPIError(4_000_018)
  static let multipleFilters = SimulatedAPIError(4_000_019)
  static let invalidTestToken = SimulatedAPIError(4_000_020)
  static let invalidSort = SimulatedAPIError(4_000_021)
  static let invalidProductType = SimulatedAPIError(4_000_022)
  static let invalidProductID = SimulatedAPIError(4_000_023)
  static let invalidGroup = SimulatedAPIError(4_000_024)
  static let invalidExcludeRevoked = SimulatedAPIError(4_000_025)
  static let invalidOwnership = SimulatedAPIError(4_000_026)
  static let emptyStorefronts = SimulatedAPIError(4_000_027)
  static let invalidStorefront = SimulatedAPIError(4_000_028)
  static let invalidRevoked = SimulatedAPIError(4_000_030)
  static let invalidStatus = SimulatedAPIError(4_000_031)
  static let invalidConsent = SimulatedAPIError(4_000_035)
  static let invalidDeliveryStatus = SimulatedAPIError(4_000_036)
  static let invalidSample = SimulatedAPIError(4_000_041)
  static let invalidRefundPreference = SimulatedAPIError(4_000_044)
  static let typeNotSupported = SimulatedAPIError(4_000_047)
  static let appTransactionID = SimulatedAPIError(4_000_048)
  static let tokenIsNoUUID = SimulatedAPIError(4_000_183)
  static let familyShared = SimulatedAPIError(4_000_185)
  static let notOriginal = SimulatedAPIError(4_000_187)
  static let percentageNotSupported = SimulatedAPIError(4_000_209)
  static let assigned = SimulatedAPIError(4_000_227)
  static let extensionIneligible = SimulatedAPIError(4_030_004)
  static let extensionMaximum = SimulatedAPIError(4_030_005)
  static let extensionFamilyShared = SimulatedAPIError(4_030_007)
  static let originalNotFound = SimulatedAPIError(4_040_005)
  static let noNotificationURL = SimulatedAPIError(4_040_007)
  static let testNotFound = SimulatedAPIError(4_040_008)
  static let massExtensionNotFound = SimulatedAPIError(4_040_009)
  static let transactionNotFound = SimulatedAPIError(4_040_010)
  static let noAppTransaction = SimulatedAPIError(4_040_019)
  static let rateLimit = SimulatedAPIError(4_290_000)
  static let unknown = SimulatedAPIError(5_000_000)

  private static let messages: [Int64: String] = [
    4_000_000: "Bad request.",
    4_000_002: "Invalid request app identifier.",
    4_000_005: "Invalid request revision.",
    4_000_006: "Invalid transaction id.",
    4_000_008: "Invalid original transaction id.",
    4_000_009: "Invalid extend by days value.",
    4_000_010: "Invalid extend reason code.",
    4_000_011: "Invalid request identifier.",
    4_000_012: "Invalid request. The start date is earlier than the allowed start date.",
    4_000_013: "Invalid request. The end date precedes the start date or the dates are the same.",
    4_000_014: "Invalid request. The pagination token is invalid.",
    4_000_015:
      "Invalid request. The start date is not a timestamp value represented in milliseconds.",
    4_000_016:
      "Invalid request. The end date is not a timestamp value represented in milliseconds.",
    4_000_017: "Invalid request. The pagination token is expired.",
    4_000_018: "Invalid request. The notification type or subtype is invalid.",
    4_000_019:
      "Invalid request. Supply either a transaction id or a notification type, but not both.",
    4_000_020: "Invalid request. The test notification token is invalid.",
    4_000_021: "Invalid request. The sort parameter is invalid.",
    4_000_022: "Invalid request. The product type parameter is invalid.",
    4_000_023: "Invalid request. The product id parameter is invalid.",
    4_000_024: "Invalid request. The subscription group identifier parameter is invalid.",
    4_000_025: "Invalid request. The exclude revoked parameter is invalid.",
    4_000_026: "Invalid request. The in-app ownership type parameter is invalid.",
    4_000_027:
      "Invalid request. If provided, the list of storefront country codes must not be empty.",
    4_000_028: "Invalid request. A storefront country code was invalid.",
    4_000_030: "Invalid request. The revoked parameter is invalid.",
    4_000_031: "Invalid request. The status parameter is invalid.",
    4_000_032: "Invalid request. The account tenure field is invalid.",
    4_000_033: "Invalid request. The app account token field is invalid.",
    4_000_034: "Invalid request. The consumption status field is invalid.",
    4_000_035: "Invalid request. The customer consented field is invalid.",
    4_000_036: "Invalid request. The delivery status field is invalid.",
    4_000_037: "Invalid request. The lifetime dollars purchased field is invalid.",
    4_000_038: "Invalid request. The lifetime dollars refunded field is invalid.",
    4_000_039: "Invalid request. The platform field is invalid.",
    4_000_040: "Invalid request. The playtime field is invalid.",
    4_000_041: "Invalid request. The sample content provided field is invalid.",
    4_000_042: "Invalid request. The user status field is invalid.",
    4_000_044: "Invalid request. The refund preference field is invalid.",
    4_000_047: "Invalid request. The transaction type of this transaction isn't supported.",
    4_000_048: "Invalid request. App transaction identifiers aren't supported.",
    4_000_183: "Invalid request. The app account token field must be a valid UUID.",
    4_000_185: "Invalid request. Family transactions aren't supported by this endpoint.",
    4_000_187: "Invalid request. The transaction id provided is not an original transaction id.",
    4_000_209:
      "Invalid request. The consumption percentage isn't supported for this transaction type.",
    4_000_227: "Invalid request. Assigned transactions aren't supported by this endpoint.",
    4_030_004: "Forbidden - subscription state ineligible for extension.",
    4_030_005: "Forbidden - subscription has reached maximum extension count.",
    4_030_007:
      "Subscriptions that users obtain through Family Sharing can't get a renewal date extension directly.",
    4_030_028: "Forbidden - assigned subscriptions can't get a renewal date extension directly.",
    4_040_001: "Account not found.",
    4_040_002: "Account not found. Please try again.",
    4_040_003: "App not found.",
    4_040_004: "App not found. Please try again.",
    4_040_005: "Original transaction id not found.",
    4_040_006: "Original transaction id not found. Please try again.",
    4_040_007:
      "No App Store Server Notification URL found for provided app. Check that a URL is configured in App Store Connect for this environment.",
    4_040_008:
      "Either the test notification token is expired or the notification and status are not yet available.",
    4_040_009:
      "The server didn't find a subscription-renewal-date extension request for this requestIdentifier and productId combination.",
    4_040_010: "Transaction id not found.",
    4_040_019: "No AppTransaction exists for the customer.",
    4_290_000: "Rate limit exceeded.",
    5_000_000: "An unknown error occurred.",
    5_000_001: "An unknown error occurred. Please try again.",
  ]
}
