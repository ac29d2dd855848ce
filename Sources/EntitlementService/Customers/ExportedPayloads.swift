import Cryptography
import EntitlementDomain
import EntitlementStore
import JSONDocuments

/// What Apple signed, in an export: each fact with its proof, and each document once, however many
/// facts came out of it.
struct ExportedPayloads: Sendable {
  private let facts: [SignedFact]
  /// For each fact the position of its document; nil for a JWS.
  private let documentIndices: [Int?]
  /// Receipts and archived responses.
  let documents: [[UInt8]]

  init(_ facts: [SignedFact]) {
    var documents: [[UInt8]] = []
    documentIndices = facts.map { fact in
      guard case .document(let bytes) = fact.signed.proof else { return nil }
      // Facts out of one document share its bytes, so that this compares two pointers: to hash a
      // mebibyte for each fact would take longer than all the rest.
      if let index = documents.firstIndex(of: bytes) { return index }
      documents.append(bytes)
      return documents.count - 1
    }
    self.facts = facts
    self.documents = documents
  }

  func fact(at index: Int) throws -> [UInt8] {
    let fact = facts[index]
    let description = ExportedFact(fact.fact, document: documentIndices[index])
    return try Self.object(description, fact.signed)
  }

  static func notification(_ received: ReceivedNotification) throws -> [UInt8] {
    try object(ExportedNotification(received), received.notification.signed)
  }

  /// The members of `description`, the proof of a JWS, and the payload as it is kept: what Apple
  /// wrote is neither reordered nor rounded.
  private static func object(
    _ description: some Encodable, _ signed: SignedPayload
  ) throws -> [UInt8] {
    var object = try JSONBytes.of(description)
    object.removeLast()
    if case .jws(let header, let signature) = signed.proof {
      object.append(contentsOf: ",\"signed_payload\":\"".utf8)
      object.append(contentsOf: header)
      for part in [signed.payload, signature] {
        object.append(UInt8(ascii: "."))
        object.append(contentsOf: Base64Form.urlWithoutPadding.encode(part))
      }
      object.append(UInt8(ascii: "\""))
    }
    object.append(contentsOf: ",\"payload\":".utf8)
    object.append(contentsOf: signed.payload)
    object.append(UInt8(ascii: "}"))
    return object
  }
}

private struct ExportedFact: Encodable {
  let kind: String
  let identifier: String
  let evidence: String
  /// The position of what it came out of, in the list of documents.
  let document: Int?

  init(_ fact: Fact, document: Int?) {
    kind =
      switch fact.kind {
      case .transaction: "TRANSACTION"
      case .renewalInfo: "RENEWAL_INFO"
      case .appTransaction: "APP_TRANSACTION"
      }
    identifier = fact.key.identifier
    evidence = fact.authority.evidenceName
    self.document = document
  }
}

private struct ExportedNotification: Encodable {
  let notificationUuid: String
  let type: String
  let subtype: String?
  let receivedAtMs: Int64
  let signedDateMs: Int64?

  init(_ received: ReceivedNotification) {
    let record = received.notification.record
    notificationUuid = record.uuid.rawValue
    type = record.type
    subtype = record.subtype
    receivedAtMs = received.receivedAt.rawValue
    signedDateMs = record.signedDate?.rawValue
  }
}
