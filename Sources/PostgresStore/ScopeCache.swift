import EntitlementDomain
import EntitlementStore
import Synchronization

/// Cache of the database ids of apps and environments. They are few and an id never changes, so all
/// ids are cached. A miss reads the table again, because other nodes add rows. Each write
/// checks that its cached ids are still valid: see ``WriteTransaction``.
final class ScopeCache: Sendable {
  struct Contents: Sendable {
    fileprivate(set) var ids = PostgresScopeIDs()
    fileprivate(set) var scopes: [Int64: AppScope] = [:]
  }

  private struct State {
    var contents = Contents()
    /// Incremented by each ``forget()``, so that a load that began before it is not cached.
    var generation = 0
  }

  private let pool: PostgresPool
  private let limits: PostgresStoreLimits
  private let state = Mutex(State())

  init(pool: PostgresPool, limits: PostgresStoreLimits) {
    self.pool = pool
    self.limits = limits
  }

  /// Nil when nothing was ever stored for the app and environment.
  ///
  /// - Parameter deadline: nil: that of a read.
  func id(
    of scope: AppScope, by deadline: ContinuousClock.Instant? = nil
  ) async throws(StoreError) -> Int64? {
    if let id = known(scope) { return id }
    return try await load(by: deadline).ids.id(of: scope)
  }

  /// - Throws: ``StoreError/Code/corrupt`` when no app and environment has the id; errors of the
  ///   database.
  func scope(_ id: Int64) async throws(StoreError) -> AppScope {
    if let scope = state.withLock({ $0.contents.scopes[id] }) { return scope }
    guard let scope = try await load().scopes[id] else {
      throw StoreError(.corrupt, "no app and environment has the stored id")
    }
    return scope
  }

  /// The ids of apps and environments. A scope that has none is inserted.
  func interned(
    _ scopes: Set<AppScope>, by deadline: ContinuousClock.Instant
  ) async throws(StoreError) -> PostgresScopeIDs {
    var ids = PostgresScopeIDs()
    for scope in scopes {
      ids.add(scope, try await interned(scope, by: deadline))
    }
    return ids
  }

  private func interned(
    _ scope: AppScope, by deadline: ContinuousClock.Instant
  ) async throws(StoreError) -> Int64 {
    if let id = try await id(of: scope, by: deadline) { return id }
    // A transaction of its own: an id that is never used does no harm.
    _ = try await pool.write(
      [
        PostgresCommand(
          Self.insert, [.text(scope.environment.rawValue), .text(scope.bundleID.rawValue)])
      ], within: ContinuousClock.now.duration(to: deadline))
    guard let id = try await id(of: scope, by: deadline) else {
      throw StoreError(.internalFault, "the id of an app and environment was not stored")
    }
    return id
  }

  /// Empties the cache. Called when the database may have lost ids, as in a failover.
  func forget() {
    state.withLock { $0 = State(generation: $0.generation + 1) }
  }

  /// Reads and returns all rows. They are not cached if ``forget()`` was called meanwhile.
  @discardableResult
  func load(by deadline: ContinuousClock.Instant? = nil) async throws(StoreError) -> Contents {
    let generation = state.withLock { $0.generation }
    let timeLeft = deadline.map { ContinuousClock.now.duration(to: $0) } ?? limits.readTimeLimit
    let results = try await pool.query(
      [PostgresCommand(Self.all)], within: min(limits.readTimeLimit, timeLeft))
    guard let rows = results.first else {
      throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
    }
    var loaded = Contents()
    for row in 0..<rows.count {
      guard let environment = StoreEnvironment(rawValue: try rows.string(row, 1)) else {
        throw StoreError(.corrupt, "a stored environment is unknown")
      }
      let scope = AppScope(bundleID: try rows.identifier(row, 2), environment: environment)
      let id = try rows.number(row, 0)
      loaded.ids.add(scope, id)
      loaded.scopes[id] = scope
    }
    let all = loaded
    state.withLock { state in
      guard state.generation == generation else { return }
      state.contents.ids.add(all.ids)
      state.contents.scopes.merge(all.scopes) { $1 }
    }
    return all
  }

  private func known(_ scope: AppScope) -> Int64? {
    state.withLock { $0.contents.ids.id(of: scope) }
  }

  static let all = PostgresStatement(
    "SELECT id, environment, bundle_id FROM scopes", name: "all_scopes")
  static let insert = PostgresStatement(
    """
    INSERT INTO scopes (environment, bundle_id) VALUES ($1::text, $2::text) ON CONFLICT DO NOTHING
    """, name: "insert_scope")
}

/// The database ids of some apps and environments. An id never changes.
struct PostgresScopeIDs: Sendable {
  private(set) var ids: [AppScope: Int64] = [:]

  init() {}

  /// 0, which is no valid id, for a scope that was not added.
  subscript(scope: AppScope) -> Int64 { ids[scope] ?? 0 }

  var all: [Int64] { Array(ids.values) }

  func id(of scope: AppScope) -> Int64? { ids[scope] }

  func scope(of id: Int64) -> AppScope? { ids.first { $0.value == id }?.key }

  mutating func add(_ scope: AppScope, _ id: Int64) { ids[scope] = id }

  mutating func add(_ others: PostgresScopeIDs) { ids.merge(others.ids) { $1 } }
}
