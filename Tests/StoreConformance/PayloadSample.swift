import AppStorePayloads
import EntitlementDomain
import EntitlementStore

/// A payload of the form that the App Store signs. Stores keep it and read facts from it.
///
/// The signature is invented: stores keep it and verify nothing.
struct PayloadSample {
  private enum Value {
    case text(String)
    case number(Int64)
    case flag(Bool)
  }

  private var fields: [(name: String, value: Value)] = []

  mutating func set(_ name: String, _ text: String?) {
    if let text { fields.append((name, .text(text))) }
  }

  mutating func set(_ name: String, _ number: Int64?) {
    if let number { fields.append((name, .number(number))) }
  }

  mutating func set(_ name: String, _ flag: Bool) {
    fields.append((name, .flag(flag)))
  }

  /// JSON with the fields in the order in which they were set. Strings are plain ASCII.
  var bytes: [UInt8] {
    let members = fields.map { field in
      switch field.value {
      case .text(let text): "\"\(field.name)\":\"\(text)\""
      case .number(let number): "\"\(field.name)\":\(number)"
      case .flag(let flag): "\"\(field.name)\":\(flag)"
      }
    }
    return Array("{\(members.joined(separator: ","))}".utf8)
  }

  /// - Throws: `PayloadError` when the fields are no fact of that kind.
  func signed(_ kind: FactKind, bundleID: BundleID) throws -> SignedFact {
    let payload = bytes
    let fact = try PayloadDecoder.fact(
      kind: kind, payload: payload, digest: Self.digest(of: payload), bundleID: bundleID)
    return SignedFact(fact: fact, signed: Self.signedPayload(payload))
  }

  static func signedPayload(_ payload: [UInt8]) -> SignedPayload {
    let digest = digest(of: payload).bytes
    return SignedPayload(
      header: header, payload: payload, signature: digest + digest + digest + digest)
  }

  /// As long as Apple's, and shared by all samples, like the header of one signer.
  private static let header = [UInt8](
    String(repeating: "eyJhbGciOiJFUzI1NiIsIng1YyI6", count: 150).utf8)

  /// A failure of the library is a defect of the machine.
  static func digest(of bytes: [UInt8]) -> PayloadDigest {
    do {
      return try StoredPayload.digest(of: bytes)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
