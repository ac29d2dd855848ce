import Cryptography
import EntitlementDomain
import StoreSimulator

/// Reads the parameters of Get Transaction History.
enum HistoryParameters {
  private static let types: [String: ProductType] = [
    "AUTO_RENEWABLE": .autoRenewable, "NON_RENEWABLE": .nonRenewing, "CONSUMABLE": .consumable,
    "NON_CONSUMABLE": .nonConsumable,
  ]

  static func filter(of request: StoreRequest) throws(SimulatedAPIError) -> StoreRecords.Filter {
    var filter = StoreRecords.Filter()
    filter.startDate = try moment("startDate", of: request, or: .invalidStartDate)
    filter.endDate = try moment("endDate", of: request, or: .invalidEndDate)
    for text in request.values("productId") {
      guard (1...255).contains(text.utf8.count) else { throw .invalidProductID }
      filter.productIDs.append(ProductID(text))
    }
    for text in request.values("productType") {
      guard let type = types[text] else { throw .invalidProductType }
      filter.productTypes.append(type)
    }
    for text in request.values("subscriptionGroupIdentifier") {
      guard StoreCall.isID(text) else { throw .invalidGroup }
      filter.groups.append(SubscriptionGroupID(text))
    }
    if let text = request.values("inAppOwnershipType").first {
      let ownership = OwnershipType(rawValue: text)
      guard ownership.isKnown else { throw .invalidOwnership }
      filter.ownership = ownership
    }
    if let excludes = try truth("excludeRevoked", of: request, or: .invalidExcludeRevoked) {
      filter.isRevoked = excludes ? false : nil
    }
    if let isRevoked = try truth("revoked", of: request, or: .invalidRevoked) {
      filter.isRevoked = isRevoked
    }
    return filter
  }

  static func isDescending(_ request: StoreRequest) throws(SimulatedAPIError) -> Bool {
    switch request.values("sort").first {
    case nil, "ASCENDING": return false
    case "DESCENDING": return true
    default: throw .invalidSort
    }
  }

  /// All parameters but the revision: a page belongs to the query of the page before.
  static func text(of request: StoreRequest) -> String {
    request.query.filter { $0.name != "revision" }.map { "\($0.name)=\($0.value)" }.sorted()
      .joined(separator: "&")
  }

  private static func moment(
    _ name: String, of request: StoreRequest, or error: SimulatedAPIError
  ) throws(SimulatedAPIError) -> Milliseconds? {
    guard let text = request.values(name).first else { return nil }
    guard let number = Int64(text), number >= 0 else { throw error }
    return Milliseconds(number)
  }

  /// Apple's Python client begins with a capital letter.
  private static func truth(
    _ name: String, of request: StoreRequest, or error: SimulatedAPIError
  ) throws(SimulatedAPIError) -> Bool? {
    switch request.values(name).first?.lowercased() {
    case nil: return nil
    case "true": return true
    case "false": return false
    default: throw error
    }
  }
}

/// A revision or a pagination token: where a page ended, and of which query.
struct PageToken {
  let position: Int64
  let query: String

  private static let version = "1"

  var text: String {
    let content = "\(Self.version).\(position).\(Self.digest(of: query))"
    return String(decoding: Base64Form.urlWithoutPadding.encode(Array(content.utf8)), as: UTF8.self)
  }

  /// - Returns: nil for a text that is no token of this query.
  static func position(of text: String, in query: String) -> Int64? {
    guard text.utf8.count <= 200,
      let bytes = try? Base64Form.urlWithoutPadding.decode(text.utf8)
    else { return nil }
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: ".")
    guard parts.count == 3, parts[0] == version, let position = Int64(parts[1]),
      parts[2] == digest(of: query)
    else { return nil }
    return position
  }

  /// FNV-1a: it finds mistakes, not attacks.
  private static func digest(of query: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in query.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 36)
  }
}
