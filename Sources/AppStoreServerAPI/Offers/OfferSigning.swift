import Cryptography
package import EntitlementDomain
import Foundation

extension AppStoreServerClient {
  /// Signs what the App Store is told about an offer, with the key of the app and a new nonce. Both
  /// environments have the same key. No request is sent.
  ///
  /// A signature takes some 40 µs of the calling thread: no more than to decode a submission, so it
  /// needs no pool of its own. Do not call it on an event loop.
  ///
  /// - Parameter now: the moment that the signature states.
  /// - Returns: nil when the app has no key.
  /// - Throws: `OfferSigningFault` when the key cannot sign, and for identifiers that V1 cannot state.
  package func sign(
    _ statement: OfferStatement, at now: Milliseconds
  ) throws(OfferSigningFault) -> OfferSignature? {
    guard let key = keys[statement.app] else { return nil }
    let (signingKey, event) = key.signingKey(uptime: clock.uptime())
    if let event { report(event) }
    let form = OfferSignatureForm(
      issuerID: key.issuerID, keyID: key.keyID, nonce: UUID().uuidString.lowercased(),
      signedAt: now)
    guard form.canState(statement) else {
      throw OfferSigningFault("an identifier has the separator of fields in it")
    }
    do throws(CryptographyError) {
      return try form.signature(of: statement, by: signingKey)
    } catch {
      throw OfferSigningFault("the key \(key.keyID) cannot sign")
    }
  }
}

/// The two forms of signed offers.
///
/// V1: Apple's "Generating a signature for promotional offers". V2: "Generating JWS to sign App Store
/// requests".
struct OfferSignatureForm {
  let issuerID: String
  let keyID: String
  /// A UUID in lower case, as V1 demands.
  let nonce: String
  let signedAt: Milliseconds

  /// How long a signature of V1 is valid: "The timestamp keeps the offer active for 24 hours".
  private static let validity = 24 * Milliseconds.hourLength
  /// INVISIBLE SEPARATOR, between the fields of V1.
  private static let separator: Unicode.Scalar = "\u{2063}"

  func signature(
    of statement: OfferStatement, by key: SigningKey
  ) throws(CryptographyError) -> OfferSignature {
    let product = statement.productID.rawValue
    switch statement.content {
    case .promotionalV1(let offer, let token):
      let text = textOfV1(statement.app, product, offer.rawValue, token?.rawValue ?? "")
      let signature = Base64Form.standard.encode(try key.derSignature(over: Array(text.utf8)))
      return OfferSignature(
        text: String(decoding: signature, as: UTF8.self), keyID: keyID, nonce: nonce,
        signedAt: signedAt, expiresAt: signedAt.advanced(by: Self.validity))
    case .promotionalV2(let offer, let transactionID):
      return try jws(
        statement.app, audience: "promotional-offer",
        [
          "productId": .text(product), "offerIdentifier": .text(offer.rawValue),
          "transactionId": transactionID.map { .text($0) },
        ], by: key)
    case .introductory(let isAllowed, let transactionID):
      return try jws(
        statement.app, audience: "introductory-offer-eligibility",
        [
          "productId": .text(product), "allowIntroductoryOffer": .boolean(isAllowed),
          "transactionId": .text(transactionID),
        ], by: key)
    }
  }

  /// Whether V1 states it clearly: with the separator in a field, the text could be read as other
  /// fields.
  func canState(_ statement: OfferStatement) -> Bool {
    guard case .promotionalV1(let offer, let token) = statement.content else { return true }
    return ![
      statement.app.rawValue, keyID, statement.productID.rawValue, offer.rawValue,
      token?.rawValue ?? "",
    ].contains { $0.unicodeScalars.contains(Self.separator) }
  }

  /// The text that V1 signs.
  private func textOfV1(
    _ app: BundleID, _ product: String, _ offer: String, _ token: String
  ) -> String {
    [app.rawValue, keyID, product, offer, token.lowercased(), nonce, "\(signedAt.rawValue)"]
      .joined(separator: String(Character(Self.separator)))
  }

  private func jws(
    _ app: BundleID, audience: String, _ claims: KeyValuePairs<String, RequestValue?>,
    by key: SigningKey
  ) throws(CryptographyError) -> OfferSignature {
    let seconds = signedAt.rawValue.flooredSeconds
    let header = RequestValue.object([
      "alg": .text("ES256"), "kid": .text(keyID), "typ": .text("JWT"),
    ])
    // No "exp": Apple computes the end from "iat".
    let base = RequestValue.object([
      "iss": .text(issuerID), "iat": .integer(seconds), "aud": .text(audience),
      "bid": .text(app.rawValue), "nonce": .text(nonce),
    ])
    // Two objects with at least one field each become one.
    let payload =
      base.dropLast() + [UInt8(ascii: ",")] + RequestValue.object(claims).dropFirst()
    let base64 = Base64Form.urlWithoutPadding
    let signed = base64.encode(header) + [UInt8(ascii: ".")] + base64.encode(Array(payload))
    let signature = try key.signature(over: signed)
    let bytes = signed + [UInt8(ascii: ".")] + base64.encode(signature)
    return OfferSignature(
      text: String(decoding: bytes, as: UTF8.self), keyID: keyID, nonce: nonce,
      signedAt: Milliseconds(seconds * Milliseconds.secondsLength), expiresAt: nil)
  }
}

extension Int64 {
  /// Milliseconds as whole seconds, rounded down.
  fileprivate var flooredSeconds: Int64 {
    let seconds = self / Milliseconds.secondsLength
    return self % Milliseconds.secondsLength < 0 ? seconds - 1 : seconds
  }
}
