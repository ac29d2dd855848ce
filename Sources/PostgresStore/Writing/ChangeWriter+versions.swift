import EntitlementDomain
import EntitlementStore

// The versions of facts that do not stand (R53).
extension ChangeWriter {
  /// Moves, deletes and copies stored rows. Runs before the facts are written, while the former
  /// standing versions are still there.
  mutating func addFormerVersions() throws(StoreError) {
    var moved = VersionColumns()
    for (fact, write) in changes.facts {
      guard let stored = write.storedTarget, stored != write.target,
        case .several? = rows.standingFacts[fact]?.versions
      else { continue }
      moved.add(fact, stored, scopes, newTarget: write.target)
    }
    var gone = VersionColumns()
    var kept = VersionColumns()
    var payloads: [[UInt8]?] = []
    for (fact, write) in changes.versions {
      let target = target(of: fact)
      for statement in write.removed { gone.add(fact, target, scopes, statement: statement) }
      if let former = write.former, let stored = rows.standingFacts[fact]?.target {
        kept.add(fact, stored, scopes, statement: former, newTarget: target)
        guard let payload = rows.standingPayloads[fact] else {
          throw StoreError(.internalFault, "the payload of a standing version was not loaded")
        }
        payloads.append(try vault.versionForm(of: payload))
      }
    }
    add(
      WriteStatements.moveVersions, moved.keys + moved.newKeys, count: moved.count)
    add(
      WriteStatements.deleteVersions, gone.keys + [.byteStrings(gone.statements)],
      count: gone.count)
    add(
      WriteStatements.copyStandingVersions,
      kept.keys + [.byteStrings(kept.statements)] + kept.newKeys + [.byteStrings(payloads)],
      count: kept.count)
  }

  /// Adds versions that are not stored yet, and updates histories.
  mutating func addVersions() {
    var added = VersionColumns()
    var authorities: [Int64?] = []
    var headerIDs: [Int64?] = []
    var signatures: [[UInt8]?] = []
    var payloads: [[UInt8]?] = []
    for (fact, write) in changes.versions {
      let target = target(of: fact)
      for (statement, signed) in write.added {
        added.add(fact, target, scopes, statement: statement)
        authorities.append(Int64(signed.fact.authority.rawValue))
        switch signed.signed.proof {
        case .jws(let header, let signature):
          headerIDs.append(headers[header])
          signatures.append(signature)
        case .document:
          headerIDs.append(headers[[]])
          signatures.append([])
        }
        payloads.append(stored(signed.signed.payload))
      }
    }
    add(
      WriteStatements.addVersions,
      [
        .int64s(added.scopes), .byteStrings(added.targets), .int64s(added.kinds),
        .int64s(authorities), .int64s(headerIDs), .byteStrings(added.identifiers),
        .byteStrings(added.statements), .byteStrings(signatures), .byteStrings(payloads),
      ], count: added.count)
    var changed = VersionColumns()
    var histories: [[UInt8]?] = []
    var supplements: [[UInt8]?] = []
    // A fact that is written has its history.
    for (fact, write) in changes.histories where changes.facts[fact] == nil {
      changed.add(fact, write.target, scopes)
      histories.append(write.history.encoded)
      supplements.append(write.supplement)
    }
    add(
      WriteStatements.writeHistories,
      changed.keys + [.byteStrings(histories), .byteStrings(supplements)],
      count: changed.count)
  }

  /// The target of a fact after this transaction.
  private func target(of fact: ScopedFact) -> LinkTarget? {
    changes.facts[fact]?.target ?? changes.histories[fact]?.target
      ?? rows.standingFacts[fact]?.target
  }
}

/// The columns that identify versions.
private struct VersionColumns {
  private(set) var scopes: [Int64?] = []
  private(set) var targets: [[UInt8]?] = []
  private(set) var kinds: [Int64?] = []
  private(set) var identifiers: [[UInt8]?] = []
  private(set) var statements: [[UInt8]?] = []
  private var newTargets: [[UInt8]?] = []
  private var newIdentifiers: [[UInt8]?] = []

  var count: Int { scopes.count }

  var keys: [PostgresValue] {
    [.int64s(scopes), .byteStrings(targets), .int64s(kinds), .byteStrings(identifiers)]
  }

  /// The targets to which they move, and the identifiers there.
  var newKeys: [PostgresValue] { [.byteStrings(newTargets), .byteStrings(newIdentifiers)] }

  mutating func add(
    _ fact: ScopedFact, _ target: LinkTarget?, _ scopes: PostgresScopeIDs,
    statement: StatementDigest? = nil, newTarget: LinkTarget? = nil
  ) {
    self.scopes.append(scopes[fact.scope])
    targets.append(target?.stored)
    kinds.append(Int64(fact.key.kind.rawValue))
    identifiers.append(target.map { fact.key.stored(in: $0) })
    statements.append(statement?.bytes)
    newTargets.append(newTarget?.stored)
    newIdentifiers.append(newTarget.map { fact.key.stored(in: $0) })
  }
}
