import AppStorePayloads
import Cryptography
import EntitlementDomain
import StoreSimulator

// Authentication of requests.
extension StoreAPIKey {
  /// How long a token may be valid, in seconds.
  private static let longestValidity: Int64 = 3_600
  /// In bytes. Apple's clients send about 400.
  private static let longestToken = 8_192

  /// Whether the App Store accepts the token of a request: as strict, and as lenient. `iat` is not
  /// required, and further claims are no reason to refuse.
  ///
  /// - Parameters:
  ///   - authorization: the value of the header field.
  ///   - now: real time, as clients know no other.
  func accepts(authorization: String?, now: Milliseconds) -> Bool {
    guard let authorization, authorization.hasPrefix("Bearer "),
      authorization.utf8.count <= Self.longestToken
    else { return false }
    let parts = authorization.dropFirst("Bearer ".count)
      .split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.fields(parts[0]), let claims = Self.fields(parts[1]),
      let signature = try? Base64Form.urlWithoutPadding.decode(parts[2].utf8)
    else { return false }
    do {
      guard try header.text("alg") == "ES256", try header.text("kid") == keyID else { return false }
      let message = Array("\(parts[0]).\(parts[1])".utf8)
      guard try verifyingKey.isValidSignature(signature, of: message) else { return false }
      guard try claims.text("iss") == issuerID, try claims.text("aud") == "appstoreconnect-v1",
        try claims.text("bid") == SimulatedApp.bundleID.rawValue,
        let expires = try claims.integer("exp")
      else { return false }
      let seconds = now.rawValue / Milliseconds.secondsLength
      let issued = try claims.integer("iat") ?? seconds
      let (validity, overflow) = expires.subtractingReportingOverflow(issued)
      return expires > seconds && issued <= seconds && !overflow
        && validity <= Self.longestValidity
    } catch {
      return false
    }
  }

  private static func fields(_ part: Substring) -> PayloadFields? {
    guard let bytes = try? Base64Form.urlWithoutPadding.decode(part.utf8) else { return nil }
    return try? PayloadFields(json: bytes)
  }
}
