import EntitlementDomain
import GRDB

// Legacy receipts and archived responses are kept whole, each once, while a fact comes out of them.
extension SubmissionWriter {
  /// What stands for a proof in the columns of a fact.
  struct StoredProof {
    let headerID: Int64
    let signature: [UInt8]
    /// Nil for a JWS.
    let documentID: Int64?
  }

  mutating func storedProof(_ proof: SignedPayload.Proof) throws -> StoredProof {
    switch proof {
    case .jws(let header, let signature):
      StoredProof(
        headerID: try database.internedHeaderID(header), signature: signature, documentID: nil)
    case .document(let bytes):
      StoredProof(
        headerID: try database.internedHeaderID([]), signature: [],
        documentID: try documentID(of: bytes))
    }
  }

  private mutating func documentID(of bytes: [UInt8]) throws -> Int64 {
    // Facts out of one document mostly share its storage too: then this compares two pointers.
    if let internedDocument, internedDocument.bytes == bytes { return internedDocument.id }
    let id = try database.internedDocumentID(bytes)
    internedDocument = (bytes, id)
    return id
  }

  /// Once all facts are merged: a receipt that comes again, newer, must not make the database grow.
  func deleteUnusedDocuments() throws {
    for document in releasedDocuments {
      try database.run(.deleteUnusedDocument, [document])
    }
  }
}
