import Cryptography
import EntitlementDomain

/// The decoded header of a JWS.
struct SignerHeader {
  let document: JSONDocument
  private let fields: PayloadFields

  /// - Parameter segment: base64url, as it came.
  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  init(segment: [UInt8]) throws(Refusal) {
    let json: [UInt8]
    do {
      json = try Base64Form.urlWithoutPadding.decode(segment)
    } catch {
      throw Refusal(error, as: .malformed, in: "header")
    }
    do {
      document = try JSONDocument(json)
      fields = try document.fields()
    } catch {
      throw Refusal(error, in: "header")
    }
  }

  /// - Throws: ``Refusal`` with ``Verdict/unsupportedAlgorithm`` unless signatures are ES256 and
  ///   nothing must be understood beyond that (RFC 7515 section 4.1.11, RFC 7797).
  func checkAlgorithm() throws(Refusal) {
    guard case "ES256"? = try? fields.text("alg") else {
      throw Refusal(.unsupportedAlgorithm, "alg is not ES256")
    }
    guard !fields.containsName("crit") else {
      throw Refusal(.unsupportedAlgorithm, "crit asks for extensions that are not understood")
    }
    // Whether it says true or false: without crit its readers disagree on what was signed.
    guard !fields.containsName("b64") else {
      throw Refusal(.unsupportedAlgorithm, "b64 asks for another encoding of the payload")
    }
  }

  /// The certificates of `x5c`, however many, in its order.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate``.
  func certificates() throws(Refusal) -> [Certificate] {
    let texts: [String]?
    do {
      texts = try fields.texts("x5c")
    } catch {
      throw Refusal(.invalidCertificate, "header: \(error.message)")
    }
    guard let texts else { throw Refusal(.invalidCertificate, "x5c is missing") }
    guard texts.count <= VerificationLimits.certificates else {
      throw Refusal(.invalidCertificate, "x5c holds \(texts.count) certificates")
    }
    var certificates: [Certificate] = []
    for (index, text) in texts.enumerated() {
      do {
        certificates.append(try Certificate(der: try Base64Form.standard.decode(text.utf8)))
      } catch {
        throw Refusal(error, as: .invalidCertificate, in: "certificate \(index + 1) of x5c")
      }
    }
    return certificates
  }
}
