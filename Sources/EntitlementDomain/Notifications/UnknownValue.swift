/// An unknown value of one of Apple's enumerations. Its fact keeps it raw. It is counted by field,
/// and grants nothing (R10).
package struct UnknownValue: Hashable, Sendable {
  /// Apple's name of the field.
  package enum Field: String, Hashable, Sendable, CaseIterable {
    case type
    case inAppOwnershipType
    case offerType
    case offerDiscountType
    case revocationReason
    case revocationType
    case transactionReason
    case expirationIntent
    case priceIncreaseStatus
    case autoRenewStatus
    case originalPlatform
    case notificationType
    case subtype
    /// An unknown combination of a known type and a known subtype: `TYPE/SUBTYPE`, or `TYPE/` if a
    /// subtype was expected.
    case notificationForm
    case status
  }

  /// In bytes; more than twice the length of any enumerated value of Apple. Longer values are
  /// truncated, so that logs and events stay small.
  package static let maximumLength = 64

  package let field: Field
  /// The raw value, truncated to ``maximumLength`` bytes of UTF-8.
  package let value: String

  package init(field: Field, value: String) {
    self.field = field
    self.value = value.bounded(toBytes: Self.maximumLength)
  }
}

extension Fact {
  /// The unknown enumerated values of the fact, in the order of the fields.
  package var unknownValues: [UnknownValue] {
    var unknown = UnknownValueCollector()
    switch self {
    case .transaction(let fact):
      // An empty type means that the payload has none. That is not an unknown type.
      unknown.collect(fact.type.rawValue.isEmpty ? nil : fact.type, as: .type)
      unknown.collect(fact.ownership, as: .inAppOwnershipType)
      unknown.collect(fact.offer)
      unknown.collect(fact.revocationReason, as: .revocationReason)
      unknown.collect(fact.revocationType, as: .revocationType)
      unknown.collect(
        fact.transactionReason.map(TransactionReason.init(rawValue:)), as: .transactionReason)
    case .renewalInfo(let fact):
      unknown.collect(fact.renewalOffer)
      unknown.collect(fact.expirationIntent, as: .expirationIntent)
      unknown.collect(fact.priceIncreaseStatus, as: .priceIncreaseStatus)
      if let status = fact.unknownAutoRenewStatus {
        unknown.add(.autoRenewStatus, String(status))
      }
    case .appTransaction(let fact):
      unknown.collect(
        fact.originalPlatform.map(OriginalPlatform.init(rawValue:)), as: .originalPlatform)
    }
    return unknown.values
  }
}

extension NotificationRecord {
  /// The unknown values among type, subtype, their combination, and status.
  package var unknownValues: [UnknownValue] {
    var unknown = UnknownValueCollector()
    let type = NotificationType(rawValue: type)
    let subtype = subtype.map(NotificationSubtype.init(rawValue:))
    unknown.collect(type, as: .notificationType)
    unknown.collect(subtype, as: .subtype)
    if unknown.values.isEmpty, NotificationForm.known(type, subtype) == nil {
      unknown.add(.notificationForm, "\(type.rawValue)/\(subtype?.rawValue ?? "")")
    }
    if let status, SubscriptionStatus(rawValue: status) == nil {
      unknown.add(.status, String(status))
    }
    return unknown.values
  }
}

/// Collects unknown values.
private struct UnknownValueCollector {
  private(set) var values: [UnknownValue] = []

  mutating func add(_ field: UnknownValue.Field, _ value: String) {
    values.append(UnknownValue(field: field, value: value))
  }

  /// Adds a value if it is unknown.
  ///
  /// - Parameter value: nil when the field is absent.
  mutating func collect<Value: AppStoreValue>(_ value: Value?, as field: UnknownValue.Field) {
    guard let value, !value.isKnown else { return }
    add(field, String(describing: value.rawValue))
  }

  mutating func collect(_ offer: Offer?) {
    collect(offer?.type, as: .offerType)
    collect(offer?.discountType, as: .offerDiscountType)
  }
}

extension String {
  /// The text truncated to a number of UTF-8 bytes, at the boundary of a Unicode scalar.
  package func bounded(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var length = 0
    var kept = ""
    for scalar in unicodeScalars {
      length += UTF8.width(scalar)
      if length > limit { break }
      kept.unicodeScalars.append(scalar)
    }
    return kept
  }
}
