import Cryptography
import EntitlementDomain
import EntitlementStore
import JSONDocuments

/// The JSON document of all that is known of an account, made piece by piece: whoever sends it holds
/// one piece beside what the store gave, and a place among the exports until it is done.
package struct CustomerExport: Sendable {
  /// Bytes of a piece: several fit a connection's buffer, so that reading and making overlap.
  package static let pieceLength = 256 * 1_024

  private let parts: [ExportPart]
  private let place: ExportPlace
  private var part = 0
  private var element = 0
  private var buffer: [UInt8] = []
  private var isFinished = false

  init(
    _ export: AccountExport, in scope: AppScope, state: CustomerState, place: ExportPlace
  ) {
    let facts = ExportedPayloads(export.facts)
    let parts: [ExportPart?] = [
      .text("account_id", export.accountID.rawValue),
      .text("bundle_id", scope.bundleID.rawValue),
      .text("environment", scope.environment.rawValue),
      .value("revision", export.revision),
      export.changedAt.map { .value("changed_at_ms", $0.rawValue) },
      .value("merged_accounts", export.merged.map(\.rawValue)),
      .value("app_account_tokens", export.tokens.map(\.rawValue)),
      .list("links", export.links) { LinkDocument($0) },
      .list("link_history", export.linkEvents) { LinkEventDocument($0) },
      .list("grants", export.grants) { GrantDocument($0) },
      .list("facts", count: export.facts.count) { try facts.fact(at: $0) },
      .list("documents", facts.documents) {
        String(decoding: Base64Form.standard.encode($0), as: UTF8.self)
      },
      .list("notifications", count: export.notifications.count) {
        try ExportedPayloads.notification(export.notifications[$0])
      },
      .value("state", StateDocument(state)),
    ]
    self.parts = parts.compactMap { $0 }
    self.place = place
  }

  /// The next piece; nil after the last.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/internalFault`` when something of it cannot be written.
  package mutating func next() throws(ServiceError) -> [UInt8]? {
    while buffer.count < Self.pieceLength, !isFinished {
      do {
        try step()
      } catch {
        throw ServiceError(.internalFault, "the document cannot be written")
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
}

/// Members of the document, and elements of its lists, in their order; each is made when its turn
/// comes.
private enum ExportPart: Sendable {
  case member(String, @Sendable () throws -> [UInt8])
  case list(String, count: Int, @Sendable (Int) throws -> [UInt8])
}

extension ExportPart {
  fileprivate static func text(_ name: String, _ value: String) -> Self { .value(name, value) }

  fileprivate static func value(_ name: String, _ value: some Encodable & Sendable) -> Self {
    .member(name) { try JSONBytes.of(value) }
  }

  fileprivate static func list<Element: Sendable>(
    _ name: String, _ elements: [Element],
    _ document: @escaping @Sendable (Element) -> some Encodable & SendableMetatype
  ) -> Self {
    .list(name, count: elements.count) { try JSONBytes.of(document(elements[$0])) }
  }
}
