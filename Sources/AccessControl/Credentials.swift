package import Cryptography
package import EntitlementDomain
import Wire

/// The callers of a server and their proofs: the content of a file of credentials.
package struct Credentials: Sendable {
  package struct Token: Hashable, Sendable {
    package let id: String
    package let digest: SHA256Digest
    /// Nil: never.
    package let expires: Milliseconds?
  }

  /// A caller with its proofs.
  package struct Entry: Sendable {
    package let caller: Caller
    package let tokens: [Token]
    package let certificates: [CertificateName]
    package let users: [UInt32]

    /// When the last token expires; nil without tokens, and if one never expires. A later token is the
    /// rotation of an earlier one.
    package var lastTokenExpiry: Milliseconds? {
      tokens.contains { $0.expires == nil } ? nil : tokens.compactMap(\.expires).max()
    }
  }

  /// The user that the kernel names in place of every user of another user namespace
  /// (user_namespaces(7)). It is no proof of anything.
  package static let overflowUser: UInt32 = 65_534

  /// In the order of the file.
  package let entries: [Entry]
  private let tokens: [String: (token: Token, caller: Caller)]
  private let certificates: [CertificateName: Caller]
  private let users: [UInt32: Caller]

  /// - Parameter entries: names, token ids, certificate names and users are distinct.
  package init(_ entries: [Entry]) {
    self.entries = entries
    var tokens: [String: (token: Token, caller: Caller)] = [:]
    var certificates: [CertificateName: Caller] = [:]
    var users: [UInt32: Caller] = [:]
    for entry in entries {
      for token in entry.tokens { tokens[token.id] = (token, entry.caller) }
      for name in entry.certificates { certificates[name] = entry.caller }
      for user in entry.users { users[user] = entry.caller }
    }
    self.tokens = tokens
    self.certificates = certificates
    self.users = users
  }

  /// Whose token this is; nil for an unknown, a wrong and an expired one. A token in the right form is
  /// always hashed, so that the time does not tell which ids exist.
  package func identity(
    token: UnsafeRawBufferPointer, now: Milliseconds
  ) -> Identity? {
    guard let id = AccessToken.id(in: token), let digest = try? SHA256.digest(of: token),
      let known = tokens[id], ConstantTime.areEqual(digest, known.token.digest),
      known.token.expires.map({ now < $0 }) ?? true
    else { return nil }
    return Identity(known.caller, .token(id: id, digest), expires: known.token.expires)
  }

  /// Whose certificate has one of these names: the first one that is known.
  package func identity(certificateNames names: [CertificateName]) -> Identity? {
    for name in names {
      // The file's names of hosts are in lower case; those of certificates may not be (RFC 4343).
      let name: CertificateName =
        if case .dns(let host) = name { .dns(host.lowercased()) } else { name }
      if let caller = certificates[name] { return Identity(caller, .certificate(name)) }
    }
    return nil
  }

  /// The caller that runs as this Unix user.
  package func identity(user: UInt32) -> Identity? {
    users[user].map { Identity($0, .user(user)) }
  }

  /// The identity that a proof, which was accepted before, has by these credentials; nil if it was
  /// removed or has expired.
  package func identity(of proof: Identity.Proof, now: Milliseconds) -> Identity? {
    switch proof {
    case .none: return nil
    case .certificate(let name): return identity(certificateNames: [name])
    case .user(let user): return identity(user: user)
    case .token(let id, let digest):
      guard let known = tokens[id], known.token.digest == digest,
        known.token.expires.map({ now < $0 }) ?? true
      else { return nil }
      return Identity(known.caller, proof, expires: known.token.expires)
    }
  }

  /// What operators must do about the tokens, a sentence each: those that expire within 14 days, and
  /// callers whose tokens have all expired.
  package func warnings(now: Milliseconds) -> [String] {
    entries.flatMap { entry in
      guard let latest = entry.lastTokenExpiry else { return [String]() }
      let left = latest.rawValue - now.rawValue
      if left <= 0 { return ["credentials: all tokens of \(entry.caller.name) have expired"] }
      guard left < Self.warningTime else { return [] }
      let time = Milliseconds.days(in: left)
      return ["credentials: the last token of \(entry.caller.name) expires in \(time)"]
    }
  }

  /// Time for two weekends.
  private static let warningTime = 14 * Milliseconds.dayLength
}
