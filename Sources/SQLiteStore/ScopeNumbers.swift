import EntitlementDomain
import GRDB

/// The small numbers of the scopes that one write concerns, each looked up once. Used on the
/// writing connection's thread only.
final class ScopeNumbers {
  private let database: Database
  private var known: [AppScope: Int64] = [:]

  init(database: Database) {
    self.database = database
  }

  /// Nil when nothing is known in the scope.
  func find(_ scope: AppScope) throws -> Int64? {
    if let id = known[scope] { return id }
    guard let id = try database.scopeID(scope) else { return nil }
    known[scope] = id
    return id
  }

  func interned(_ scope: AppScope) throws -> Int64 {
    if let id = known[scope] { return id }
    let id = try database.internedScopeID(scope)
    known[scope] = id
    return id
  }
}
