import Foundation
import Framing

/// The base address of another server, to which the paths of its requests are added.
package struct OutboundAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address, without a slash at its end.
  package let description: String

  /// Why a text is no address. It shows the text only if that has no part that may be a secret.
  package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether the text has, or seems to have, a user, a password, a query or a fragment.
    package let mayHoldSecret: Bool

    package init(_ text: String, _ description: String) {
      self.description = description
      mayHoldSecret = text.contains { "@?#".contains($0) }
    }
  }

  private static let maximumLength = 2_048

  /// - Parameter text: `https://HOST[:PORT][/PREFIX]`, or `http://` of this machine.
  /// - Throws: ``Invalid``. What is sent is secret, or tells what customers do: beyond this machine it
  ///   needs TLS.
  package init(parsing text: String) throws(Invalid) {
    guard text.utf8.count <= Self.maximumLength,
      let parts = URLComponents(string: text, encodingInvalidCharacters: false),
      let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
      let host = parts.host, !host.isEmpty
    else { throw Invalid(text, "https://HOST[:PORT] or http://LOOPBACK:PORT is expected") }
    guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
      throw Invalid(text, "it may have no user, password, query or fragment")
    }
    // A number that is too large for an integer has no value.
    guard parts.rangeOfPort == nil || (1...65_535).contains(parts.port ?? 0) else {
      throw Invalid(text, "\(text): a port is 1 to 65535")
    }
    let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    guard scheme == "https" || ServerAddress.tcp(host: name, port: 0).isLoopback else {
      throw Invalid(text, "\(text): other machines are reached by https:// only")
    }
    self.init(trusted: text)
  }

  /// - Parameter text: a constant of the program, which is not checked.
  package init(trusted text: String) {
    var text = Substring(text)
    while text.hasSuffix("/") { text.removeLast() }
    description = String(text)
  }
}
