import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// Which catalog is in force, and what became of the last attempt to change it.
package struct CatalogResponse: Hashable, WireMessage {
  /// SHA-256 of the file in force, hexadecimal.
  package var digest: String
  package var inForceSince: Milliseconds
  package var appCount: Int
  package var productCount: Int
  package var entitlementCount: Int
  package var grandfatheringRuleCount: Int
  /// What is doubtful about the catalog in force.
  package var warnings: [CatalogIssue]
  /// The last attempt to change it, for a reload this one; nil when there was none.
  package var lastAttempt: CatalogAttempt?

  package init(
    digest: String, inForceSince: Milliseconds, appCount: Int, productCount: Int,
    entitlementCount: Int, grandfatheringRuleCount: Int, warnings: [CatalogIssue] = [],
    lastAttempt: CatalogAttempt? = nil
  ) {
    self.digest = digest
    self.inForceSince = inForceSince
    self.appCount = appCount
    self.productCount = productCount
    self.entitlementCount = entitlementCount
    self.grandfatheringRuleCount = grandfatheringRuleCount
    self.warnings = warnings
    self.lastAttempt = lastAttempt
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension CatalogResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__catalog_response__init)

  init(reading message: Entitle__V1__CatalogResponse) throws(MessageError) {
    digest = Self.text(message.digest)
    inForceSince = Milliseconds(message.in_force_since_ms)
    appCount = Int(message.apps)
    productCount = Int(message.products)
    entitlementCount = Int(message.entitlements)
    grandfatheringRuleCount = Int(message.grandfathering_rules)
    warnings = try Self.list(
      message.warnings, count: message.n_warnings, of: CatalogIssue.self)
    lastAttempt = try Self.optional(message.last_attempt, as: CatalogAttempt.self)
  }

  func write(
    to message: inout Entitle__V1__CatalogResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.digest = try Self.text(digest, "digest", in: arena)
    message.in_force_since_ms = inForceSince.rawValue
    message.apps = Int32(clamping: appCount)
    message.products = Int32(clamping: productCount)
    message.entitlements = Int32(clamping: entitlementCount)
    message.grandfathering_rules = Int32(clamping: grandfatheringRuleCount)
    message.n_warnings = warnings.count
    message.warnings = try Self.list(warnings, in: arena)
    if let lastAttempt { message.last_attempt = try lastAttempt.make(in: arena) }
  }
}
