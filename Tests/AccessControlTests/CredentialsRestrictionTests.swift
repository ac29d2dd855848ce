import Cryptography
import EntitlementDomain
import Testing
import Wire

@testable import AccessControl

@Suite("What two files of credentials both allow")
struct CredentialsRestrictionTests {
  private static let now: Milliseconds = 1_800_000_000_000
  private let kept = AccessToken()
  private let removed = AccessToken()
  private let added = AccessToken()

  private func parse(_ callers: String) throws -> CredentialsFile.Contents {
    try CredentialsFile.parse("version: 1\ncallers:\n" + callers, user: { _ in nil })
  }

  private func line(_ tokens: [(AccessToken, String)]) throws -> String {
    let list = try tokens.map {
      "{id: \($0.id), sha256: \"\(try $0.digest.hexadecimal)\", expires: \($1)}"
    }
    return "[" + list.joined(separator: ", ") + "]"
  }

  private func identity(_ token: AccessToken, _ credentials: Credentials, at: Milliseconds = now)
    -> Identity?
  {
    Array(token.text.utf8).withUnsafeBytes { credentials.identity(token: $0, now: at) }
  }

  @Test("What is taken away is gone, and what is added waits")
  func restriction() throws {
    let old = try parse(
      """
        - name: shop
          roles: [submitter]
          apps: {com.example.scribe: [Production, Sandbox], com.example.other: [Production]}
          tokens: \(try line([(kept, "never"), (removed, "never")]))
          users: [1001, 1002]
        - name: gone
          roles: [admin]
          users: [1003]
      """)
    let new = try parse(
      """
        - name: shop
          roles: [reader, support]
          apps: {com.example.scribe: [Sandbox], com.example.third: [Production]}
          tokens: \(try line([(kept, "2027-01-15T08:00:00.500Z"), (added, "never")]))
          users: [1002, 1004]
        - name: new
          roles: [admin]
          users: [1003]
      """)
    let holder = CredentialsHolder(old, digest: "old") { Self.now }
    let meter = holder.snapshot.credentials.entries[0].caller.meter
    let generation = holder.generation
    holder.restrict(to: new)
    let snapshot = holder.snapshot
    #expect(snapshot.digest == "old")
    #expect(holder.generation != generation)
    let credentials = snapshot.credentials
    let shop = try #require(identity(kept, credentials))
    #expect(shop.caller.permissions == PermissionSet([.open, .identity, .read]))
    #expect(shop.caller.scopes == AppScopes(["com.example.scribe": [.sandbox]]))
    #expect(shop.caller.meter === meter)
    #expect(shop.expires == Self.now.advanced(by: 500))
    #expect(identity(kept, credentials, at: Self.now.advanced(by: 500)) == nil)
    #expect(identity(removed, credentials) == nil)
    #expect(identity(added, credentials) == nil)
    #expect(credentials.identity(user: 1_002)?.caller.name == "shop")
    for user: UInt32 in [1_001, 1_003, 1_004] { #expect(credentials.identity(user: user) == nil) }
    #expect(credentials.entries.map(\.caller.name) == ["shop"])
  }
}
