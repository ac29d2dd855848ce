/// The operator's configuration of apps, products, entitlements and grandfathering rules. It is a
/// value, which evaluation takes as an argument.
package struct Catalog: Hashable, Sendable {
  package var apps: [BundleID: CatalogApp]
  package var entitlements: [EntitlementID: CatalogEntitlement]
  package var products: [ProductID: CatalogProduct]
  /// The rules of each app, sorted by id.
  package var grandfathering: [BundleID: [GrandfatheringRule]]
  /// The time for which a subscription with an overdue renewal stays active, in milliseconds; 0 to
  /// 72 hours (R24).
  package var renewalLeeway: Int64

  package init(
    apps: [CatalogApp] = [], entitlements: [CatalogEntitlement] = [],
    products: [CatalogProduct] = [], grandfathering: [GrandfatheringRule] = [],
    renewalLeeway: Int64 = 0
  ) {
    self.apps = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
    self.entitlements = Dictionary(entitlements.map { ($0.id, $0) }) { first, _ in first }
    self.products = Dictionary(products.map { ($0.id, $0) }) { first, _ in first }
    self.grandfathering = Dictionary(grouping: grandfathering, by: \.bundleID)
      .mapValues { rules in rules.sorted { $0.id < $1.id } }
    self.renewalLeeway = renewalLeeway
  }

  /// The policy for claims in this app and environment (R44).
  package func linkPolicy(in scope: AppScope) -> LinkPolicy {
    apps[scope.bundleID]?.linkPolicies[scope.environment] ?? .transfer
  }

  /// The largest number of claims that one account may be granted within 24 hours in this app
  /// (R44).
  package func claimsPerDay(in scope: AppScope) -> Int {
    apps[scope.bundleID]?.claimsPerDay ?? CatalogApp.defaultClaimsPerDay
  }

  /// How often claims may move one purchase from account to account within 30 days in this app (R93).
  package func claimsPerPurchase(in scope: AppScope) -> Int {
    apps[scope.bundleID]?.claimsPerPurchase ?? CatalogApp.defaultClaimsPerPurchase
  }

  /// The largest number of chains that one account may have in this app and environment (R68).
  package func chainsPerAccount(in scope: AppScope) -> Int {
    apps[scope.bundleID]?.chainsPerAccount ?? CatalogApp.defaultChainsPerAccount
  }

  /// Whether hints link that were learned from submissions (R73). Bound ones always do.
  package func usesLearnedHints(in scope: AppScope) -> Bool {
    apps[scope.bundleID]?.usesLearnedHints ?? true
  }

  /// Whether tokens are learned. Where the app derives them, none is (R74).
  package func learnsTokens(in scope: AppScope) -> Bool {
    usesLearnedHints(in: scope) && tokenNamespace(in: scope) == nil
  }

  /// The products of an app that have offers, sorted by id (R82).
  package func productsWithOffers(of app: BundleID) -> [CatalogProduct] {
    products.values.filter { !$0.offers.isEmpty && isSold($0, by: app) }.sorted { $0.id < $1.id }
  }

  /// Whether an app sells a product that has offers. A catalog with several apps names the app.
  package func isSold(_ product: CatalogProduct, by app: BundleID) -> Bool {
    product.bundleID.map { $0 == app } ?? (apps.count == 1 && apps[app] != nil)
  }

  /// The namespace by which the app derives tokens from account ids (R74); nil: it does not.
  package func tokenNamespace(in scope: AppScope) -> TokenNamespace? {
    apps[scope.bundleID]?.tokenNamespace
  }

  /// Whether an account id belongs to an anonymous account: a customer who has not signed in (R75).
  package func isAnonymous(_ account: AccountID, in scope: AppScope) -> Bool {
    let prefix = apps[scope.bundleID]?.anonymousPrefix ?? CatalogApp.defaultAnonymousPrefix
    return account.rawValue.utf8.starts(with: prefix.utf8)
  }

  package static let maximumRenewalLeeway = 72 * Milliseconds.hourLength
}

/// An app whose signed data is accepted (R8).
package struct CatalogApp: Hashable, Sendable {
  package var bundleID: BundleID
  /// Required where Production is accepted.
  package var appAppleID: Int64?
  package var environments: Set<StoreEnvironment>
  /// The default of an environment without a policy is ``LinkPolicy/transfer``.
  package var linkPolicies: [StoreEnvironment: LinkPolicy]
  /// Whether operators may import archived responses of `verifyReceipt`, which are not signed
  /// (`archived_responses` in the catalog file).
  package var acceptsArchivedResponses: Bool
  /// The prefix of the ids of anonymous accounts (`anonymous_prefix` in the catalog file); 1 to
  /// ``maximumAnonymousPrefixLength`` bytes.
  package var anonymousPrefix: String
  /// The largest number of claims that one account may be granted within 24 hours
  /// (`claims_per_day`); at least 1.
  package var claimsPerDay: Int
  /// How often claims may move one purchase within 30 days (`claims_per_purchase`); at least 1.
  package var claimsPerPurchase: Int
  /// The largest number of chains that one account may have in each environment
  /// (`chains_per_account`); at least 1.
  package var chainsPerAccount: Int
  /// Whether hints link that were learned from submissions (`learned_hints`).
  package var usesLearnedHints: Bool
  /// The namespace of tokens that the app derives from account ids (`account_token_namespace`).
  package var tokenNamespace: TokenNamespace?

  package static let defaultAnonymousPrefix = "anonymous:"
  package static let defaultClaimsPerDay = 20
  /// Somebody who signs in with another account moves a purchase once, and a family that shares a device a
  /// few times.
  package static let defaultClaimsPerPurchase = 6
  /// A customer has a few chains, and one who buys a consumable every day has this number after 27
  /// years. A backend that sends one account id for many customers reaches it.
  package static let defaultChainsPerAccount = 10_000
  /// In bytes; far less than the limit of account ids.
  package static let maximumAnonymousPrefixLength = 64

  package init(
    bundleID: BundleID, appAppleID: Int64? = nil,
    environments: Set<StoreEnvironment> = [.production, .sandbox],
    linkPolicies: [StoreEnvironment: LinkPolicy] = [:], acceptsArchivedResponses: Bool = false,
    anonymousPrefix: String = Self.defaultAnonymousPrefix,
    claimsPerDay: Int = Self.defaultClaimsPerDay,
    claimsPerPurchase: Int = Self.defaultClaimsPerPurchase,
    chainsPerAccount: Int = Self.defaultChainsPerAccount, usesLearnedHints: Bool = true,
    tokenNamespace: TokenNamespace? = nil
  ) {
    self.bundleID = bundleID
    self.appAppleID = appAppleID
    self.environments = environments
    self.linkPolicies = linkPolicies
    self.acceptsArchivedResponses = acceptsArchivedResponses
    self.anonymousPrefix = anonymousPrefix
    self.claimsPerDay = claimsPerDay
    self.claimsPerPurchase = claimsPerPurchase
    self.chainsPerAccount = chainsPerAccount
    self.usesLearnedHints = usesLearnedHints
    self.tokenNamespace = tokenNamespace
  }
}

/// The namespace of UUIDs of version 5 (RFC 9562, section 5.5) that an app derives from account ids.
/// It is no secret.
package struct TokenNamespace: Hashable, Sendable {
  /// 16 bytes.
  package let bytes: [UInt8]

  /// - Returns: nil for a text that is not a UUID in its usual form of 36 characters.
  package init?(_ text: String) {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var bytes: [UInt8] = []
    var high: UInt8?
    for (index, character) in characters.enumerated() {
      if [8, 13, 18, 23].contains(index) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Self.digit(character) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    self.bytes = bytes
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// A named capability.
package struct CatalogEntitlement: Hashable, Sendable {
  package var id: EntitlementID
  package var description: String?

  package init(id: EntitlementID, description: String? = nil) {
    self.id = id
    self.description = description
  }
}

/// A product that is sold in the App Store, with the entitlements that it confers.
package struct CatalogProduct: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case autoRenewable = "auto_renewable"
    case nonRenewing = "non_renewing"
    case nonConsumable = "non_consumable"
    case consumable
  }

  package var id: ProductID
  package var kind: Kind
  /// The subscription group, for auto-renewable products.
  package var group: SubscriptionGroupID?
  /// Level of service within the group; 1 is the highest, as in App Store Connect.
  package var level: Int
  /// The duration of a non-renewing purchase (R11). Without one, the purchase confers nothing, and
  /// the state reports that (R12). A consumable with a duration is treated like a non-renewing
  /// purchase.
  package var duration: CalendarDuration?
  /// Whether overlapping non-renewing purchases extend each other (R13).
  package var stacking: Bool
  package var entitlements: [EntitlementID]
  /// What is sent when a refund is asked for (R87); nil: nothing.
  package var consumption: ConsumptionPolicy?
  /// The app that sells the product, where its offers need it: nil if the catalog has one app.
  package var bundleID: BundleID?
  /// The offers of an auto-renewable product, sorted: the introductory one first, then by id (R82).
  package var offers: [CatalogOffer]

  package init(
    id: ProductID, kind: Kind, group: SubscriptionGroupID? = nil, level: Int = 1,
    duration: CalendarDuration? = nil, stacking: Bool = false, entitlements: [EntitlementID] = [],
    consumption: ConsumptionPolicy? = nil,
    bundleID: BundleID? = nil, offers: [CatalogOffer] = []
  ) {
    self.id = id
    self.kind = kind
    self.group = group
    self.level = level
    self.duration = duration
    self.stacking = stacking
    self.entitlements = entitlements
    self.consumption = consumption
    self.bundleID = bundleID
    self.offers = offers
  }
}

/// The policy for claims: submissions that name another account than the linked one (R44). Raw
/// values are the words of the catalog file.
package enum LinkPolicy: String, Hashable, Sendable, CaseIterable {
  /// The claim is granted: the chain moves to the named account.
  case transfer
  /// The claim is granted if the purchase is not in force now.
  case transferIfInactive = "transfer_if_inactive"
  /// The claim is refused. The answer does not name the owner.
  case keep
}
