package import EntitlementDomain

/// A token for purchases outside the App Store: `externalPurchaseToken` of a notification. Names
/// and meanings are Apple's; it names no environment but by its prefix.
package struct ExternalPurchaseToken: Hashable, Sendable {
  /// `externalPurchaseId`, without the prefix of the Sandbox.
  package var identifier: String
  package var tokenCreationDate: Milliseconds

  package init(identifier: String, tokenCreationDate: Milliseconds) {
    self.identifier = identifier
    self.tokenCreationDate = tokenCreationDate
  }

  func write(to writer: inout JSONObjectWriter, environment: StoreEnvironment?) {
    let prefix = environment == .sandbox ? "SANDBOX_" : ""
    writer.set("externalPurchaseId", prefix + identifier)
    writer.set("tokenCreationDate", tokenCreationDate.rawValue)
  }
}
