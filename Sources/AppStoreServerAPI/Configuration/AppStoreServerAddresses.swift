import EntitlementDomain
package import OutboundHTTP

/// Where both environments of the API are served. Apple's paths are added.
package struct AppStoreServerAddresses: Hashable, Sendable, CustomStringConvertible {
  package var production = OutboundAddress(trusted: "https://api.storekit.apple.com")
  package var sandbox = OutboundAddress(trusted: "https://api.storekit-sandbox.apple.com")

  /// Apple's hosts.
  package init() {}

  /// - Parameter text: `production=URL,sandbox=URL`; an environment that is left out is Apple's.
  /// - Throws: `OutboundAddress.Invalid`.
  package init(parsing text: String) throws(OutboundAddress.Invalid) {
    var named: Set<Substring> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.prefix { $0 != "=" }
      guard ["production", "sandbox"].contains(name), name.endIndex < part.endIndex else {
        throw OutboundAddress.Invalid(
          text, "production=URL, sandbox=URL or both, with a comma, are expected")
      }
      guard named.insert(name).inserted else {
        throw OutboundAddress.Invalid(text, "\(name) is there twice")
      }
      let address = try OutboundAddress(parsing: String(part[name.endIndex...].dropFirst()))
      if name == "production" { production = address } else { sandbox = address }
    }
  }

  /// Whether both are plain HTTP, which is possible to this machine only.
  package var areOfThisMachine: Bool {
    [production, sandbox].allSatisfy { $0.description.lowercased().hasPrefix("http://") }
  }

  /// As ``init(parsing:)`` reads it.
  package var description: String { "production=\(production),sandbox=\(sandbox)" }

  /// - Returns: nil for environments without a server.
  subscript(environment: StoreEnvironment) -> OutboundAddress? {
    switch environment {
    case .production: production
    case .sandbox: sandbox
    case .xcode, .localTesting: nil
    }
  }
}
