import EntitlementDomain
import EntitlementStore
import GRDB

// The versions of facts that do not stand (R53).
extension SQLiteChangesWriter {
  /// Deletes stored versions, and copies standing ones that are about to be replaced.
  func writeFormerVersions() throws {
    for (fact, write) in changes.versions {
      let scopeID = try scopes.interned(fact.scope)
      for statement in write.removed {
        try database.run(
          .deleteVersion,
          [
            scopeID, fact.key.kind.rawValue, fact.key.identifier.packed, statement.bytes.stored,
          ])
      }
      if let former = write.former {
        let key = try fact.key.arguments(scopeID: scopeID)
        guard let row = try database.row(.factByKey, key) else {
          throw StoreError(.internalFault, "a change names a fact that is not stored")
        }
        let payload = try vault.versionForm(of: SQLiteStoredFact.payload(row))
        try database.run(.copyStandingVersion, [former.bytes.stored, payload.stored] + key)
      }
    }
  }

  /// Adds versions that are not stored yet, and updates histories. Runs after the facts are written.
  func writeVersions() throws {
    for (fact, write) in changes.versions {
      let scopeID = try scopes.interned(fact.scope)
      for (statement, signed) in write.added {
        var header: [UInt8] = []
        var signature: [UInt8] = []
        if case .jws(let jwsHeader, let jwsSignature) = signed.signed.proof {
          header = jwsHeader
          signature = jwsSignature
        }
        try database.run(
          .insertVersion,
          [
            statement.bytes.stored, signed.fact.authority.rawValue,
            database.internedHeaderID(header), vault.stored(signed.signed.payload).stored,
            signature.stored, scopeID, fact.key.kind.rawValue, fact.key.identifier.packed,
          ])
      }
    }
    // A fact that is written has its history.
    for (fact, write) in changes.histories where changes.facts[fact] == nil {
      try database.run(
        .setHistory,
        [
          write.history.encoded.stored, write.supplement?.stored, scopes.interned(fact.scope),
          fact.key.kind.rawValue,
          fact.key.identifier.packed,
        ])
    }
  }
}
