/// A value of one of Apple's enumerations that is not known yet. It is kept raw in its fact,
/// counted by its field, and grants nothing by itself (R10).
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
    /// A type and a subtype that are known, but not with each other: `TYPE/SUBTYPE`, or `TYPE/`
    /// where a subtype was expected.
    case notificationForm
    case status
  }

  /// An enumerated word of Apple's is shorter than half of this many bytes; what is longer is
  /// counted under its beginning, so that nothing large reaches logs and events.
  package static let maximumLength = 64

  package let field: Field
  /// As it came, at most ``maximumLength`` bytes of UTF-8.
  package let value: String

  package init(field: Field, value: String) {
    self.field = field
    self.value = value.bounded(toBytes: Self.maximumLength)
  }
}

extension Fact {
  /// The enumerated values of the fact that are not known, in the order of the fields.
  package var unknownValues: [UnknownValue] {
    var unknown = UnknownValueCollector()
    switch self {
    case .transaction(let fact):
      // Empty: the payload has no type, which is something else than an unknown one.
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
  /// Type, subtype, their combination and status, as far as they are not known.
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

/// Gathers what is not known while the fields of a fact are gone through.
private struct UnknownValueCollector {
  private(set) var values: [UnknownValue] = []

  mutating func add(_ field: UnknownValue.Field, _ value: String) {
    values.append(UnknownValue(field: field, value: value))
  }

  /// - Parameter value: nil: the field is absent.
  mutating func collect<Value: AppStoreValue>(_ value: Value?, as field: UnknownValue.Field) {
    guard let value, !value.isKnown else { return }
    add(field, String(describing: value.rawValue))
  }

  mutating func collect(_ offer: Offer?) {
    collect(offer?.type, as: .offerType)
    collect(offer?.discountType, as: .offerDiscountType)
  }
}
