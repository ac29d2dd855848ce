import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Verification

/// Signed payloads of a simulated App Store, right and wrong.
struct Workshop {
  /// One authority for all tests: making keys takes time.
  static let shared = Workshop(authority: authorities[0])
  /// Another one whose certificates have the very same names.
  static let twin = Workshop(authority: authorities[1])
  /// 2024-01-01T00:00:00Z.
  static let signedDate = Milliseconds(Payload.signedDate)

  // A failure to make keys is a failure of every test.
  private static let authorities = [try! SigningAuthority.generate(), try! .generate()]

  let authority: SigningAuthority

  var anchors: TrustAnchors {
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    return anchors
  }

  var verifier: JWSVerifier { JWSVerifier(anchors: anchors) }

  func sign(_ payload: Payload) throws -> [UInt8] {
    try sign(payload.bytes)
  }

  func sign(_ json: [UInt8]) throws -> [UInt8] {
    Array(try authority.sign(payloadJSON: json).utf8)
  }

  /// Signs with the leaf's key, or another one, under any header.
  func sign(
    _ payload: Payload = .transaction(), header: Header, key: SigningKey? = nil
  ) throws -> [UInt8] {
    let message =
      Array(header.segment.utf8) + [UInt8(ascii: ".")]
      + Base64Form.urlWithoutPadding.encode(payload.bytes)
    let signature = try (key ?? authority.leaf.key).signature(over: message)
    return message + [UInt8(ascii: ".")] + Base64Form.urlWithoutPadding.encode(signature)
  }

  /// `x5c` as the authority states it: leaf, intermediate, root.
  var chain: [String] {
    [authority.leaf, authority.intermediate, authority.root].map { Header.base64($0.certificate) }
  }
}

/// A JWS header that may be wrong in any way.
struct Header {
  var alg: String? = #""ES256""#
  /// Raw JSON.
  var x5c: String
  /// Raw JSON of more members, each with a leading comma.
  var more = ""

  init(x5c chain: [String]) {
    x5c = "[" + chain.map { "\"\($0)\"" }.joined(separator: ",") + "]"
  }

  init(x5cJSON: String) {
    x5c = x5cJSON
  }

  init(certificates: [[UInt8]]) {
    self.init(x5c: certificates.map(Self.base64))
  }

  var segment: String {
    let members = [alg.map { #""alg":\#($0)"# }, #""x5c":\#(x5c)"#].compactMap { $0 }
    let json = "{" + members.joined(separator: ",") + more + "}"
    return String(
      decoding: Base64Form.urlWithoutPadding.encode(Array(json.utf8)), as: UTF8.self)
  }

  static func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64Form.standard.encode(bytes), as: UTF8.self)
  }
}

extension Payload {
  static func notification(data: Payload?) -> Payload {
    var payload = Payload(members: [
      "notificationType": #""DID_RENEW""#, "version": #""2.0""#,
      "notificationUUID": #""b1f0c6d2-4a37-4e59-8c1b-6d2f9e8a7054""#,
      "signedDate": "\(Workshop.signedDate)",
    ])
    payload.members["data"] = data?.json
    return payload
  }

  static func notificationData() -> Payload {
    Payload(members: [
      "bundleId": #""com.example.scribe""#, "environment": #""Sandbox""#, "status": "1",
    ])
  }
}

extension VerificationPolicy {
  /// What the payloads above are for.
  static let scribe = VerificationPolicy(apps: [
    App(bundleID: "com.example.scribe", appAppleID: 1_234_567_890, environments: [.sandbox])
  ])
}

/// A JWS with one bit or more of its signature changed, in a form that is right: another letter of
/// base64url.
func withAlteredSignature(_ jws: [UInt8]) -> [UInt8] {
  var altered = jws
  let place = jws.count - 20
  altered[place] = UInt8(ascii: jws[place] == UInt8(ascii: "A") ? "B" : "A")
  return altered
}

/// The verdict alone.
func verdict(
  _ verifier: JWSVerifier, _ jws: [UInt8], as kind: SignedKind? = nil,
  policy: VerificationPolicy = .scribe, now: Milliseconds = Workshop.signedDate
) -> Verdict {
  do {
    _ = try verifier.verify(jws, as: kind, policy: policy, now: now)
    return .ok
  } catch {
    return error.verdict
  }
}
