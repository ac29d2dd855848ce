import Foundation

/// A JWS in compact form (RFC 7515 §7.1), to be parsed and modified.
struct CompactJWS {
  var header: String
  var payload: String
  var signature: String

  init(_ text: String) throws {
    let parts = text.split(whereSeparator: \.isWhitespace).joined()
      .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { throw HarnessFailure("not a JWS in compact form") }
    (header, payload, signature) = (parts[0], parts[1], parts[2])
  }

  var text: String { "\(header).\(payload).\(signature)" }

  /// The signed payload.
  var contents: Data {
    get throws {
      let padding = String(repeating: "=", count: (4 - payload.count % 4) % 4)
      let standard = payload.replacing("-", with: "+").replacing("_", with: "/") + padding
      guard let contents = Data(base64Encoded: standard) else {
        throw HarnessFailure("the payload is not base64url")
      }
      return contents
    }
  }

  /// The JWS with a changed payload and the old signature.
  func forged(replacing old: String, with new: String) throws -> String {
    let changed = String(decoding: try contents, as: UTF8.self).replacing(old, with: new)
    var forged = self
    forged.payload = Data(changed.utf8).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    guard forged.payload != payload else { throw HarnessFailure("the replacement changed nothing") }
    return forged.text
  }
}
