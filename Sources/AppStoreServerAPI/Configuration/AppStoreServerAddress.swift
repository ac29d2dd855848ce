import EntitlementDomain
import Foundation
import Framing

/// Where one environment of the API is served. Apple's paths are added to it.
package struct AppStoreServerAddress: Hashable, Sendable, CustomStringConvertible {
  /// Without a slash at its end.
  package let description: String

  /// Why a text is no address. Its text is shown, as it holds no password.
  package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  private static let maximumLength = 2_048

  /// - Parameter text: `https://HOST[:PORT][/PREFIX]`, or `http://` of this machine.
  /// - Throws: ``Invalid``. Tokens and purchases are secret: beyond this machine they need TLS.
  package init(parsing text: String) throws(Invalid) {
    guard text.utf8.count <= Self.maximumLength,
      let parts = URLComponents(string: text, encodingInvalidCharacters: false),
      let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
      let host = parts.host, !host.isEmpty
    else { throw Invalid(description: "https://HOST[:PORT] or http://LOOPBACK:PORT is expected") }
    guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
      throw Invalid(description: "it may have no user, password, query or fragment")
    }
    // A number that is too large for an integer has no value.
    guard parts.rangeOfPort == nil || (1...65_535).contains(parts.port ?? 0) else {
      throw Invalid(description: "\(text): a port is 1 to 65535")
    }
    let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    guard scheme == "https" || ServerAddress.tcp(host: name, port: 0).isLoopback else {
      throw Invalid(description: "\(text): other machines are reached by https:// only")
    }
    self.init(trusted: text)
  }

  fileprivate init(trusted text: String) {
    var text = Substring(text)
    while text.hasSuffix("/") { text.removeLast() }
    description = String(text)
  }
}

/// Where both environments of the API are served.
package struct AppStoreServerAddresses: Hashable, Sendable {
  package var production = AppStoreServerAddress(trusted: "https://api.storekit.apple.com")
  package var sandbox = AppStoreServerAddress(trusted: "https://api.storekit-sandbox.apple.com")

  /// Apple's hosts.
  package init() {}

  /// - Parameter text: `production=URL,sandbox=URL`; an environment that is left out is Apple's.
  /// - Throws: ``AppStoreServerAddress/Invalid``.
  package init(parsing text: String) throws(AppStoreServerAddress.Invalid) {
    var named: Set<Substring> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.prefix { $0 != "=" }
      guard ["production", "sandbox"].contains(name), name.endIndex < part.endIndex else {
        throw AppStoreServerAddress.Invalid(
          description: "production=URL, sandbox=URL or both, with a comma, are expected")
      }
      guard named.insert(name).inserted else {
        throw AppStoreServerAddress.Invalid(description: "\(name) is there twice")
      }
      let address = try AppStoreServerAddress(parsing: String(part[name.endIndex...].dropFirst()))
      if name == "production" { production = address } else { sandbox = address }
    }
  }

  /// - Returns: nil for environments without a server.
  subscript(environment: StoreEnvironment) -> AppStoreServerAddress? {
    switch environment {
    case .production: production
    case .sandbox: sandbox
    case .xcode, .localTesting: nil
    }
  }
}
