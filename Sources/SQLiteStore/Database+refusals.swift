import EntitlementDomain
import EntitlementStore
import GRDB

// Refused claims (R91).
extension Database {
  func write(_ claim: RefusedClaim, _ scopes: SQLiteScopeCache) throws {
    let target = claim.key.target
    try run(
      .setRefusedClaim,
      target.target.refusalArguments(scopes.interned(target.scope)) + [
        claim.key.claimer.stored, claim.at.rawValue,
        claim.author.map { try internedHeaderID($0.encoded) }, claim.traceID?.stored,
      ])
  }

  /// Deletes what is beyond the limits of these targets and accounts, and all that is too old.
  func trimRefusedClaims(_ claims: some Collection<RefusedClaim>, _ scopes: SQLiteScopeCache) throws
  {
    guard let latest = claims.map(\.at).max() else { return }
    for claim in claims {
      let target = claim.key.target
      let scopeID = try scopes.interned(target.scope)
      try run(
        .trimRefusedClaimsOfTarget,
        target.target.refusalArguments(scopeID) + target.target.refusalArguments(scopeID)
          + [RefusedClaim.limit])
      try run(
        .trimRefusedClaimsOfClaimer,
        [
          scopeID, claim.key.claimer.stored, scopeID, claim.key.claimer.stored,
          RefusedClaim.limit,
        ])
    }
    try deleteOldRefusedClaims(at: latest)
  }

  func deleteOldRefusedClaims(at now: Milliseconds) throws {
    try run(.deleteOldRefusedClaims, [now.advanced(by: -RefusedClaim.lifetime).rawValue])
  }

  func refusedClaims(
    of targets: [LinkTarget], by account: AccountID?, in scope: AppScope, scopeID: Int64
  ) throws -> [RefusedClaim] {
    var rows: [Row] = []
    for target in targets {
      rows += try self.rows(.refusedClaimsOfTarget, target.refusalArguments(scopeID))
    }
    if let account {
      var names = [account]
      if let stored = try self.account(account, scopeID: scopeID) {
        names += try self.rows(.mergedAccounts, [stored.id]).map { $0.identifier(1) }
      }
      for name in names { rows += try self.rows(.refusedClaimsOfClaimer, [scopeID, name.stored]) }
    }
    var claims: [RefusedClaim.Key: RefusedClaim] = [:]
    for row in rows {
      let isChain: Bool = row[0]
      let target: LinkTarget =
        isChain
        ? .chain(try row.packedIdentifier(1)) : .appTransaction(try row.packedIdentifier(1))
      let key = RefusedClaim.Key(ScopedTarget(scope, target), by: row.identifier(2))
      claims[key] = RefusedClaim(
        key, author: row.hasNull(atIndex: 4) ? nil : try LinkAuthor(encoded: row.bytes(4)),
        traceID: row.hasNull(atIndex: 5) ? nil : try row.bytes(5), at: Milliseconds(row[3]))
    }
    return claims.values.sorted { ($0.at, $0.key.claimer) < ($1.at, $1.key.claimer) }
  }
}

extension LinkTarget {
  /// The first arguments of statements about refused claims of a target.
  func refusalArguments(_ scopeID: Int64) throws -> StatementArguments {
    switch self {
    case .chain(let id): [scopeID, true, try id.packed]
    case .appTransaction(let id): [scopeID, false, try id.packed]
    }
  }
}
