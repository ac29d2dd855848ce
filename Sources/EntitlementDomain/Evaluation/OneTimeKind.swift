/// What a purchase is that does not renew by itself.
enum OneTimeKind {
  case nonRenewing
  case nonConsumable
  case consumable
  /// A type that is not known yet (R10), or none.
  case unknown

  /// - Returns: nil for an auto-renewable subscription.
  init?(_ type: ProductType) {
    switch type {
    case .autoRenewable: return nil
    case .nonRenewing: self = .nonRenewing
    case .nonConsumable: self = .nonConsumable
    case .consumable: self = .consumable
    default: self = .unknown
    }
  }

  /// Nil where the transaction alone can say.
  var type: ProductType? {
    switch self {
    case .nonRenewing: .nonRenewing
    case .nonConsumable: .nonConsumable
    case .consumable: .consumable
    case .unknown: nil
    }
  }
}
