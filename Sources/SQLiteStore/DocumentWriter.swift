import EntitlementDomain
import EntitlementStore
import GRDB

/// Stores legacy receipts and archived responses, each once, for the facts of one write.
struct DocumentWriter {
  /// The columns of a fact that refer to its proof.
  struct StoredProof {
    let headerID: Int64
    let signature: [UInt8]
    /// Nil for a JWS.
    let documentID: Int64?
  }

  let database: Database
  private let vault: PayloadVault
  /// Documents that this write has stored. All facts of a receipt share one, so it is hashed once.
  /// There are seldom two.
  private var interned: [(bytes: [UInt8], id: Int64)] = []

  init(database: Database, vault: PayloadVault) {
    self.database = database
    self.vault = vault
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
    // Facts of one document usually share the array, so this compares two pointers.
    if let known = interned.first(where: { $0.bytes == bytes }) { return known.id }
    let id = try database.internedDocumentID(bytes, vault)
    interned.append((bytes, id))
    return id
  }
}
