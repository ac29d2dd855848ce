import Cryptography
import EntitlementDomain
import TestSupport
import Testing
import Wire

@testable import AccessControl

@Suite("Who a caller is")
struct CredentialsTests {
  private static let now: Milliseconds = 1_800_000_000_000
  private static let before: Milliseconds = 1_799_999_999_999
  private static let day: Int64 = 86_400_000

  private let current = AccessToken()
  private let next = AccessToken()
  private let other = AccessToken()

  private func credentials(
    currentExpires: Milliseconds? = Self.now, nextExpires: Milliseconds? = nil
  ) throws -> Credentials {
    Credentials([
      Credentials.Entry(
        caller: Caller(name: "billing", permissions: Role.submitter.permissions, scopes: .all),
        tokens: [
          Credentials.Token(
            id: current.id, digest: try current.digest, expires: currentExpires),
          Credentials.Token(id: next.id, digest: try next.digest, expires: nextExpires),
        ], certificates: [.uri("spiffe://example.com/billing"), .dns("billing.example.com")],
        users: [1_001, 1_002]),
      Credentials.Entry(
        caller: Caller(name: "otto", permissions: .all, scopes: .all),
        tokens: [Credentials.Token(id: other.id, digest: try other.digest, expires: nil)],
        certificates: [.uri("spiffe://example.com/otto")], users: [0]),
    ])
  }

  private func identity(
    _ text: String, by credentials: Credentials, now: Milliseconds = Self.now
  ) -> Identity? {
    Array(text.utf8).withUnsafeBytes { credentials.identity(token: $0, now: now) }
  }

  // MARK: Tokens

  @Test("A token is that of its caller, until the moment at which it expires")
  func tokens() throws {
    let credentials = try credentials(currentExpires: Self.now)
    let found = try #require(identity(current.text, by: credentials, now: Self.before))
    #expect(found.caller.name == "billing")
    #expect(found.proof == .token(id: current.id, try current.digest))
    #expect(found.kind == .token)
    #expect(found.tokenID == current.id)
    #expect(found.expires == Self.now)
    #expect(identity(current.text, by: credentials, now: Self.now) == nil)
    // The next one overlaps it, and does not expire.
    for now in [Self.before, Self.now, Milliseconds(.max)] {
      let found = try #require(identity(next.text, by: credentials, now: now))
      #expect(found.caller.name == "billing")
      #expect(found.tokenID == next.id)
      #expect(found.expires == nil)
    }
    #expect(identity(other.text, by: credentials)?.caller.name == "otto")
  }

  @Test("A token that is not known, or not one, is nobody's")
  func unknownTokens() throws {
    let credentials = try credentials(currentExpires: nil)
    #expect(identity(current.text, by: credentials) != nil)
    #expect(identity(AccessToken().text, by: credentials) == nil)
    for text in ["", "x", current.id, current.text + " ", String(current.text.dropLast())] {
      #expect(identity(text, by: credentials) == nil)
    }
    #expect(identity(try current.digest.hexadecimal, by: credentials) == nil)
  }

  @Test("The id of a known token does not help a guess, even with the right checksum")
  func guesses() throws {
    // The first eight numbers make the id.
    var first = PrefixedRandom(prefix: SeededRandom(seed: 1), rest: SeededRandom(seed: 2))
    var second = PrefixedRandom(prefix: SeededRandom(seed: 1), rest: SeededRandom(seed: 3))
    let token = AccessToken(using: &first)
    let guess = AccessToken(using: &second)
    try #require(token.id == guess.id && token.text != guess.text)
    let credentials = Credentials([
      Credentials.Entry(
        caller: Caller(name: "a", permissions: .all, scopes: .all),
        tokens: [Credentials.Token(id: token.id, digest: try token.digest, expires: nil)],
        certificates: [], users: [])
    ])
    #expect(identity(token.text, by: credentials)?.caller.name == "a")
    #expect(Array(guess.text.utf8).withUnsafeBytes { AccessToken.id(in: $0) } == token.id)
    #expect(identity(guess.text, by: credentials) == nil)
  }

  // MARK: Certificates and users

  @Test("A certificate is that of a caller by one of its exact names")
  func certificates() throws {
    let credentials = try credentials()
    let cases: [([CertificateName], String?)] = [
      ([.uri("spiffe://example.com/billing")], "billing"),
      ([.uri("spiffe://example.com/Billing")], nil),
      ([.uri("spiffe://example.com/billing/")], nil),
      ([.uri("spiffe://example.com")], nil),
      ([.dns("billing.example.com")], "billing"),
      // Names of hosts are compared without case (RFC 4343).
      ([.dns("BILLING.Example.com")], "billing"),
      ([.dns("*.example.com")], nil),
      ([.dns("a.billing.example.com")], nil),
      // The type counts.
      ([.uri("billing.example.com")], nil),
      ([.dns("spiffe://example.com/billing")], nil),
      ([.dns("unknown"), .uri("spiffe://example.com/otto")], "otto"),
      // The first one that is known, in the order of the certificate.
      ([.uri("spiffe://example.com/otto"), .dns("billing.example.com")], "otto"),
      ([.dns("billing.example.com"), .uri("spiffe://example.com/otto")], "billing"),
      ([], nil),
    ]
    for (names, caller) in cases {
      let found = credentials.identity(certificateNames: names)
      #expect(found?.caller.name == caller, "\(names)")
      #expect(found.map(\.kind) == (caller == nil ? nil : .certificate), "\(names)")
      #expect(found?.tokenID == nil && found?.expires == nil)
    }
  }

  @Test("A process is a caller by its user")
  func users() throws {
    let credentials = try credentials()
    for (user, caller) in [0: "otto", 1_001: "billing", 1_002: "billing", 1_003: nil] {
      let found = credentials.identity(user: UInt32(user))
      #expect(found?.caller.name == caller)
      #expect(found.map(\.proof) == (caller == nil ? nil : .user(UInt32(user))))
    }
  }

  // MARK: Proofs that were accepted before

  @Test("A proof that was accepted is looked up again by the credentials of a reload")
  func reloads() throws {
    let before = try credentials(currentExpires: Self.now)
    let token = try #require(identity(current.text, by: before, now: Self.before)).proof
    let certificate = try #require(
      before.identity(certificateNames: [.dns("billing.example.com")])
    ).proof
    let user = try #require(before.identity(user: 1_001)).proof
    for proof in [token, certificate, user] {
      let again = before.identity(of: proof, now: Self.before)
      #expect(again?.caller.name == "billing")
      #expect(again?.proof == proof)
    }
    #expect(before.identity(of: token, now: Self.now) == nil, "it has expired")
    // Another caller has all of them now, with another expiry.
    let moved = Credentials([
      Credentials.Entry(
        caller: Caller(name: "new", permissions: .all, scopes: .all),
        tokens: [Credentials.Token(id: current.id, digest: try current.digest, expires: nil)],
        certificates: [.dns("billing.example.com")], users: [1_001])
    ])
    for proof in [token, certificate, user] {
      #expect(moved.identity(of: proof, now: Self.now)?.caller.name == "new")
      #expect(moved.identity(of: proof, now: Self.now)?.expires == nil)
      #expect(Credentials([]).identity(of: proof, now: Self.now) == nil)
    }
    #expect(moved.identity(of: .none, now: Self.now) == nil)
    // The same id with another secret is another token.
    let replaced = Credentials([
      Credentials.Entry(
        caller: Caller(name: "billing", permissions: .all, scopes: .all),
        tokens: [Credentials.Token(id: current.id, digest: try next.digest, expires: nil)],
        certificates: [], users: [])
    ])
    #expect(replaced.identity(of: token, now: Self.now) == nil)
  }

  @Test("Without access control, the caller is local and has no proof")
  func local() {
    #expect(Identity.local.caller.name == "local")
    #expect(Identity.local.kind == nil)
    #expect(Identity.local.tokenID == nil)
    #expect(Identity.local.caller.permissions == .all)
    #expect(Identity.local.caller.scopes.isUnlimited)
    #expect(Caller.reservedNames.contains(Identity.local.caller.name))
  }

  // MARK: Warnings

  @Test("A caller whose last token expires within 14 days is a warning")
  func warnings() throws {
    func warnings(_ current: Int64?, _ next: Int64?) throws -> [String] {
      try credentials(
        currentExpires: current.map { Milliseconds(Self.now.rawValue + $0) },
        nextExpires: next.map { Milliseconds(Self.now.rawValue + $0) }
      ).warnings(now: Self.now)
    }
    let soon = 3 * Self.day
    #expect(try warnings(soon, nil) == [], "the next token of the rotation does not expire")
    #expect(try warnings(soon, 14 * Self.day) == [])
    #expect(
      try warnings(soon, 14 * Self.day - 1)
        == ["credentials: the last token of billing expires in 13 days"])
    #expect(
      try warnings(14 * Self.day - 1, soon)
        == ["credentials: the last token of billing expires in 13 days"])
    #expect(
      try warnings(-1, 1) == ["credentials: the last token of billing expires in less than a day"])
    #expect(try warnings(-1, 0) == ["credentials: all tokens of billing have expired"])
    #expect(try warnings(-soon, -1) == ["credentials: all tokens of billing have expired"])
    let proofless = Credentials([
      Credentials.Entry(
        caller: Caller(name: "a", permissions: .all, scopes: .all), tokens: [],
        certificates: [.dns("a")], users: [1])
    ])
    #expect(proofless.warnings(now: Self.now) == [], "it has no tokens to expire")
  }
}

/// Eight numbers of one generator, then those of another.
private struct PrefixedRandom: RandomNumberGenerator {
  var prefix: SeededRandom
  var rest: SeededRandom
  private var count = 0

  init(prefix: SeededRandom, rest: SeededRandom) {
    self.prefix = prefix
    self.rest = rest
  }

  mutating func next() -> UInt64 {
    count += 1
    return count <= AccessToken.idLength ? prefix.next() : rest.next()
  }
}
