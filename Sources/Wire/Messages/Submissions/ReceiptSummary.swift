import CEntitleMessages
public import EntitlementDomain

/// What a receipt says of itself.
public struct ReceiptSummary: Hashable, Sendable {
  /// Apple's receipt type as it came, such as `ProductionSandbox`.
  public var receiptType: String
  /// The app, and the environment that the receipt type stands for.
  public var scope: AppScope
  public var creationDate: Milliseconds
  /// The version of the app that it was made for; nil when absent.
  public var applicationVersion: String?
  /// The version that the customer first had; nil when absent.
  public var originalApplicationVersion: String?
  /// When the customer first had the app; nil when not told.
  public var originalPurchaseDate: Milliseconds?
  /// When the receipt of a volume purchase ends; nil otherwise.
  public var expirationDate: Milliseconds?
  /// How many in-app purchases it holds.
  public var inAppCount: Int

  public init(
    receiptType: String, scope: AppScope, creationDate: Milliseconds,
    applicationVersion: String? = nil, originalApplicationVersion: String? = nil,
    originalPurchaseDate: Milliseconds? = nil, expirationDate: Milliseconds? = nil,
    inAppCount: Int
  ) {
    self.receiptType = receiptType
    self.scope = scope
    self.creationDate = creationDate
    self.applicationVersion = applicationVersion
    self.originalApplicationVersion = originalApplicationVersion
    self.originalPurchaseDate = originalPurchaseDate
    self.expirationDate = expirationDate
    self.inAppCount = inAppCount
  }
}

extension ReceiptSummary: MappedMessage {
  static let shape = MessageShape(entitle__v1__receipt_summary__init)

  init(reading message: Entitle__V1__ReceiptSummary) throws(MessageError) {
    receiptType = Self.text(message.receipt_type)
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    creationDate = Milliseconds(message.creation_ms)
    applicationVersion = Self.optionalText(message.application_version)
    originalApplicationVersion = Self.optionalText(message.original_application_version)
    if message.has_original_purchase_ms_case.isSet {
      originalPurchaseDate = Milliseconds(message.original_purchase_ms)
    }
    if message.has_expiration_ms_case.isSet {
      expirationDate = Milliseconds(message.expiration_ms)
    }
    inAppCount = Int(message.in_app_count)
  }

  func write(
    to message: inout Entitle__V1__ReceiptSummary, in arena: MessageArena
  ) throws(MessageError) {
    message.receipt_type = try Self.text(receiptType, "receipt_type", in: arena)
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.creation_ms = creationDate.rawValue
    message.application_version = try Self.text(
      applicationVersion, "application_version", in: arena)
    message.original_application_version = try Self.text(
      originalApplicationVersion, "original_application_version", in: arena)
    if let originalPurchaseDate {
      message.has_original_purchase_ms_case =
        ENTITLE__V1__RECEIPT_SUMMARY__HAS_ORIGINAL_PURCHASE_MS_ORIGINAL_PURCHASE_MS
      message.original_purchase_ms = originalPurchaseDate.rawValue
    }
    if let expirationDate {
      message.has_expiration_ms_case =
        ENTITLE__V1__RECEIPT_SUMMARY__HAS_EXPIRATION_MS_EXPIRATION_MS
      message.expiration_ms = expirationDate.rawValue
    }
    message.in_app_count = Int64(inAppCount)
  }
}
