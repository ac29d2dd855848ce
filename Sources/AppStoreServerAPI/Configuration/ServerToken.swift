import Cryptography
import EntitlementDomain

/// The JWT of calls about one app (RFC 7519; ES256).
///
/// Apple refuses a token whose `exp` is more than an hour after its `iat`, and one of the future,
/// without a documented leeway. So `iat` is a minute ago, for a clock that is ahead; and a token is
/// used for half of its life, for a clock that is behind.
struct ServerToken: Hashable, Sendable {
  /// In the compact form.
  let text: String
  private let signedAt: Milliseconds

  /// Seconds.
  static let skew: Int64 = 60
  /// From `iat` to `exp`, in seconds.
  static let life: Int64 = 1_200
  static let audience = "appstoreconnect-v1"

  /// - Throws: ``CryptographyError``.
  init(
    key: SigningKey, issuerID: String, keyID: String, app: BundleID, now: Milliseconds
  ) throws(CryptographyError) {
    let issued = now.rawValue / Milliseconds.secondsLength - Self.skew
    let header = RequestValue.object([
      "alg": .text("ES256"), "kid": .text(keyID), "typ": .text("JWT"),
    ])
    let claims = RequestValue.object([
      "iss": .text(issuerID), "iat": .integer(issued), "exp": .integer(issued + Self.life),
      "aud": .text(Self.audience), "bid": .text(app.rawValue),
    ])
    let base64 = Base64Form.urlWithoutPadding
    let signed = base64.encode(header) + [UInt8(ascii: ".")] + base64.encode(claims)
    let signature = try key.signature(over: signed)
    let bytes = signed + [UInt8(ascii: ".")] + base64.encode(signature)
    text = String(decoding: bytes, as: UTF8.self)
    signedAt = now
  }

  /// Whether it may still be sent: false after half of its life, and when the clock was set back.
  func isFresh(_ now: Milliseconds) -> Bool {
    let age = now.rawValue - signedAt.rawValue
    return age >= 0 && age < Self.life * Milliseconds.secondsLength / 2
  }
}
