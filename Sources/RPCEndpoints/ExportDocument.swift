import Cryptography
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Wire

/// The JSON document of a ``CustomerExport`` (`deploy/docs/entitlectl-json.md`), generated in
/// pieces, so that only one piece is in memory in addition to the exported data. Messages have the
/// JSON form of messages.
struct ExportDocument {
  /// The size of a piece, in bytes. Several pieces fit a connection's write buffer, so that
  /// generating and reading overlap.
  static let pieceLength = 256 * 1_024

  /// A member with one value or a list. Values are generated when they are written.
  private enum Part {
    case member(String, () throws -> [UInt8])
    case list(String, count: Int, (Int) throws -> [UInt8])
  }

  /// Retained until the document is complete: it keeps the permit of the export.
  private let export: CustomerExport
  private let parts: [Part]
  private var part = 0
  private var element = 0
  private var buffer: [UInt8] = []
  private var isFinished = false

  init(_ export: CustomerExport) {
    let account = export.account
    let facts = ExportedPayloads(account.facts)
    let parts: [Part?] = [
      .member("accountId") { .string(account.accountID.rawValue) },
      .member("bundleId") { .string(export.scope.bundleID.rawValue) },
      .member("environment") { .string(export.scope.environment.jsonName) },
      .member("revision") { .string("\(account.revision)") },
      account.changedAt.map { moment in .member("changedAtMs") { .string("\(moment)") } },
      Self.list("mergedAccounts", account.merged) { .string($0.rawValue) },
      Self.list("appAccountTokens", account.tokens) { .string($0.token.rawValue) },
      Self.list("accountTokens", account.tokens) { try AccountToken($0).jsonEncoded() },
      Self.list("links", account.links) { try AccountLink($0).jsonEncoded() },
      Self.list("linkHistory", account.linkEvents) { try LinkHistoryEntry($0).jsonEncoded() },
      Self.list("grants", account.grants) { try $0.jsonEncoded() },
      account.consent.map { consent in
        .member("consumptionConsent") { try ConsumptionConsentEntry(consent).jsonEncoded() }
      },
      Self.list("importRows", export.importRows) { row in
        // The message is one of a list, and does not name the import.
        let name = Array("{\"importId\":".utf8) + .string(row.place.name.id)
        return name + [UInt8(ascii: ",")] + (try ImportRowEntry(row).jsonEncoded()).dropFirst()
      },
      .list("facts", count: account.facts.count) { facts.fact(at: $0) },
      Self.list("versions", account.versions) { ExportedPayloads.version($0) },
      Self.list("documents", facts.documents) { .string(Base64Form.standard.encode($0)) },
      Self.list("notifications", account.notifications) { ExportedPayloads.notification($0) },
      .member("state") { try export.state.jsonEncoded() },
    ]
    self.export = export
    self.parts = parts.compactMap { $0 }
  }

  /// Returns the next piece; nil after the last. All pieces but the last have ``pieceLength``
  /// bytes.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/internalFault`` if a value cannot be encoded.
  mutating func next() throws(ServiceError) -> [UInt8]? {
    while buffer.count < Self.pieceLength, !isFinished {
      do {
        try step()
      } catch {
        throw ServiceError(.internalFault, "the export document cannot be encoded")
      }
    }
    guard !buffer.isEmpty else { return nil }
    let piece = Array(buffer.prefix(Self.pieceLength))
    buffer.removeFirst(piece.count)
    return piece
  }

  private mutating func step() throws {
    guard part < parts.count else {
      buffer.append(contentsOf: "}\n".utf8)
      isFinished = true
      return
    }
    if element == 0 { buffer.append(UInt8(ascii: part == 0 ? "{" : ",")) }
    switch parts[part] {
    case .member(let name, let value):
      buffer.append(contentsOf: "\"\(name)\":".utf8)
      buffer.append(contentsOf: try value())
      part += 1
    case .list(let name, let count, let value):
      if element == 0 { buffer.append(contentsOf: "\"\(name)\":[".utf8) }
      if element < count {
        if element > 0 { buffer.append(UInt8(ascii: ",")) }
        buffer.append(contentsOf: try value(element))
        element += 1
      }
      if element == count {
        buffer.append(UInt8(ascii: "]"))
        part += 1
        element = 0
      }
    }
  }

  private static func list<Element>(
    _ name: String, _ elements: [Element], _ json: @escaping (Element) throws -> [UInt8]
  ) -> Part {
    .list(name, count: elements.count) { try json(elements[$0]) }
  }
}

/// The signed payloads of an export: each fact with its proof, and each document once, even if
/// several facts come from it.
private struct ExportedPayloads {
  private let facts: [SignedFact]
  /// For each fact the index of its document; nil for a JWS.
  private let documentIndices: [Int?]
  /// The receipts and archived responses.
  let documents: [[UInt8]]

  init(_ facts: [SignedFact]) {
    var documents: [[UInt8]] = []
    documentIndices = facts.map { fact in
      guard case .document(let bytes) = fact.signed.proof else { return nil }
      // Facts from one document share its array, so that this only compares pointers. Hashing up to
      // four mebibytes for each fact would take most of the time.
      if let index = documents.firstIndex(of: bytes) { return index }
      documents.append(bytes)
      return documents.count - 1
    }
    self.documents = documents
    self.facts = facts
  }

  func fact(at index: Int) -> [UInt8] {
    let fact = facts[index].fact
    return Self.object(
      [
        ("kind", .string(fact.kind.jsonName)), ("identifier", .string(fact.key.identifier)),
        ("evidence", .string(fact.authority.jsonName)),
        ("document", documentIndices[index].map { Array("\($0)".utf8) }),
      ], facts[index].signed)
  }

  static func version(_ version: ExportedVersion) -> [UInt8] {
    let moments = version.moments.sorted.map { "\"\($0)\"" }.joined(separator: ",")
    return object(
      [
        ("kind", .string(version.fact.kind.jsonName)),
        ("identifier", .string(version.fact.identifier)),
        ("evidence", version.authority.map { .string($0.jsonName) }),
        ("signedDatesMs", Array("[\(moments)]".utf8)),
        ("standing", version.signed == nil ? Array("true".utf8) : nil),
      ], version.signed)
  }

  static func notification(_ received: ReceivedNotification) -> [UInt8] {
    let record = received.notification.record
    return object(
      [
        ("notificationUuid", .string(record.uuid.rawValue)), ("type", .string(record.type)),
        ("subtype", record.subtype.map { .string($0) }),
        ("receivedAtMs", .string("\(received.receivedAt)")),
        ("signedDateMs", record.signedDate.map { .string("\($0)") }),
      ], received.notification.signed)
  }

  /// A JSON object of the members that are not nil, the signed payload of a JWS, and the stored
  /// payload. Apple's payload is copied verbatim, so that nothing is reordered or rounded.
  private static func object(
    _ members: [(name: String, json: [UInt8]?)], _ signed: SignedPayload?
  ) -> [UInt8] {
    var object: [UInt8] = []
    for member in members {
      guard let json = member.json else { continue }
      object.append(UInt8(ascii: object.isEmpty ? "{" : ","))
      object.append(contentsOf: "\"\(member.name)\":".utf8)
      object.append(contentsOf: json)
    }
    guard let signed else { return object + [UInt8(ascii: "}")] }
    if case .jws(let header, let signature) = signed.proof {
      object.append(contentsOf: ",\"signedPayload\":\"".utf8)
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

extension FactKind {
  /// The kind's name in `Protos/`.
  fileprivate var jsonName: String {
    switch self {
    case .transaction: "PAYLOAD_KIND_TRANSACTION"
    case .renewalInfo: "PAYLOAD_KIND_RENEWAL_INFO"
    case .appTransaction: "PAYLOAD_KIND_APP_TRANSACTION"
    }
  }
}

extension FactAuthority {
  /// The name in `Protos/`.
  fileprivate var jsonName: String {
    switch self {
    case .signedTransaction: "EVIDENCE_SIGNED_TRANSACTION"
    case .receipt: "EVIDENCE_RECEIPT"
    case .archivedResponse: "EVIDENCE_UNSIGNED_ARCHIVE"
    }
  }
}

extension StoreEnvironment {
  /// The environment's name in `Protos/`.
  fileprivate var jsonName: String {
    switch self {
    case .production: "STORE_ENVIRONMENT_PRODUCTION"
    case .sandbox: "STORE_ENVIRONMENT_SANDBOX"
    case .xcode: "STORE_ENVIRONMENT_XCODE"
    case .localTesting: "STORE_ENVIRONMENT_LOCAL_TESTING"
    }
  }
}

extension [UInt8] {
  fileprivate static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

  /// A JSON string of a text in UTF-8.
  fileprivate static func string(_ text: [UInt8]) -> [UInt8] {
    text.withUnsafeBytes { bytes in
      var json: [UInt8] = []
      json.appendJSONString(bytes)
      return json
    }
  }
}
