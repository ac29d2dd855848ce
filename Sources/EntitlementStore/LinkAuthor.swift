/// The caller whose call changed a link, as the audit trail has it (R46, R76).
package struct LinkAuthor: Hashable, Sendable {
  /// The name of the authenticated caller.
  package var name: String
  /// The id of its token, which is no secret; empty for another proof.
  package var tokenID: String

  package init(name: String, tokenID: String = "") {
    self.name = name
    self.tokenID = tokenID
  }

  package init(_ caller: AuditCaller) {
    self.init(name: caller.name, tokenID: caller.tokenID)
  }
}

// An author is stored once, with the headers of JWS, which are bytes that many rows share too. Its
// bytes are lines: `author`, the name, and the id of the token if there is one. No header begins like
// that. Neither the names of callers nor the ids of tokens have line feeds.
extension LinkAuthor {
  package var encoded: [UInt8] {
    Array((tokenID.isEmpty ? "author\n\(name)" : "author\n\(name)\n\(tokenID)").utf8)
  }

  /// - Throws: ``StoreError/Code/corrupt`` for other bytes than those of ``encoded``.
  package init(encoded bytes: [UInt8]) throws(StoreError) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard (2...3).contains(lines.count), lines[0] == "author" else {
      throw StoreError(.corrupt, "a stored author of a link has an unknown form")
    }
    self.init(name: lines[1], tokenID: lines.count == 3 ? lines[2] : "")
  }
}
