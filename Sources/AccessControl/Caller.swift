package import Cryptography
package import EntitlementDomain
package import Wire

/// A caller of the server, as the credentials in force describe it.
package final class Caller: Sendable {
  /// Unique among the callers of a file.
  package let name: String
  package let roles: [Role]
  package let permissions: PermissionSet
  package let scopes: AppScopes
  /// What it has used of its limits, over all its connections and over reloads.
  package let meter: CallerMeter

  package init(
    name: String, roles: [Role] = [], permissions: PermissionSet, scopes: AppScopes,
    meter: CallerMeter = CallerMeter()
  ) {
    self.name = name
    self.roles = roles
    self.permissions = permissions
    self.scopes = scopes
    self.meter = meter
  }

  /// Every caller of a server without access control.
  package static let local = Caller(name: "local", permissions: .all, scopes: .all)

  /// Names that no caller of a file may have: they stand for the server, for the App Store and for
  /// callers without access control.
  package static let reservedNames: Set<String> = ["local", "server", "apple"]

  /// The App Store, which posts notifications: they prove by their signatures what they say.
  package static let apple = Caller(
    name: "apple", permissions: PermissionSet(.submit), scopes: .all)
}

/// A caller, and how it has proved who it is.
package struct Identity: Sendable {
  package enum Proof: Hashable, Sendable {
    /// No access control.
    case none
    case token(id: String, SHA256Digest)
    case certificate(CertificateName)
    /// The Unix user of the process.
    case user(UInt32)
  }

  package let caller: Caller
  package let proof: Proof
  /// When the proof expires; nil if it does not.
  package let expires: Milliseconds?

  package init(_ caller: Caller, _ proof: Proof, expires: Milliseconds? = nil) {
    self.caller = caller
    self.proof = proof
    self.expires = expires
  }

  package static let local = Identity(.local, .none)
  package static let apple = Identity(.apple, .none)

  /// The kind of proof in messages; nil without access control.
  package var kind: CallerProof? {
    switch proof {
    case .none: nil
    case .token: .token
    case .certificate: .certificate
    case .user: .user
    }
  }

  /// Nil for another proof than a token.
  package var tokenID: String? {
    if case .token(let id, _) = proof { id } else { nil }
  }
}
