import EntitlementDomain
import EntitlementStore
import Synchronization

/// The numbers of apps and environments. There are few of them, and a number never changes, so all
/// are kept in memory; what is not there is looked for again, since other nodes add some. Each write
/// makes sure that they still mean the same: see ``WriteTransaction``.
final class ScopeDirectory: Sendable {
  struct Contents: Sendable {
    fileprivate(set) var numbers = ScopeNumbers()
    fileprivate(set) var scopes: [Int64: AppScope] = [:]
  }

  private struct State {
    var contents = Contents()
    /// Counts the times that all was forgotten.
    var generation = 0
  }

  private let pool: PostgresPool
  private let limits: PostgresStoreLimits
  private let state = Mutex(State())

  init(pool: PostgresPool, limits: PostgresStoreLimits) {
    self.pool = pool
    self.limits = limits
  }

  /// Nil when nothing was ever stored in it.
  func number(of scope: AppScope) async throws(StoreError) -> Int64? {
    if let number = known(scope) { return number }
    return try await load().numbers.number(of: scope)
  }

  /// - Throws: ``StoreError/Code/corrupt`` when no scope has the number; others when the database
  ///   cannot be asked.
  func scope(_ number: Int64) async throws(StoreError) -> AppScope {
    if let scope = state.withLock({ $0.contents.scopes[number] }) { return scope }
    guard let scope = try await load().scopes[number] else {
      throw StoreError(.corrupt, "an app and environment is not stored")
    }
    return scope
  }

  /// The numbers of some scopes, which get one if they have none.
  func interned(_ scopes: Set<AppScope>) async throws(StoreError) -> ScopeNumbers {
    var numbers = ScopeNumbers()
    for scope in scopes {
      numbers.add(scope, try await interned(scope))
    }
    return numbers
  }

  private func interned(_ scope: AppScope) async throws(StoreError) -> Int64 {
    if let number = try await number(of: scope) { return number }
    // In a transaction of its own: a number that nothing uses in the end does no harm.
    _ = try await pool.write(
      [
        PostgresCommand(
          Self.insert, [.text(scope.environment.rawValue), .text(scope.bundleID.rawValue)])
      ], within: limits.writeTimeLimit)
    guard let number = try await number(of: scope) else {
      throw StoreError(.internalFault, "an app and environment was not stored")
    }
    return number
  }

  /// For when the database may not know them any more.
  func forget() {
    state.withLock { $0 = State(generation: $0.generation + 1) }
  }

  /// What is stored, whether or not it is kept: that is forgotten when the directory was meanwhile.
  @discardableResult
  func load() async throws(StoreError) -> Contents {
    let generation = state.withLock { $0.generation }
    let results = try await pool.query(
      [PostgresCommand(Self.all)], within: limits.readTimeLimit)
    guard let rows = results.first else {
      throw StoreError(.internalFault, "PostgreSQL answered what was not expected")
    }
    var loaded = Contents()
    for row in 0..<rows.count {
      guard let environment = StoreEnvironment(rawValue: try rows.string(row, 1)) else {
        throw StoreError(.corrupt, "a stored environment is not known")
      }
      let scope = AppScope(bundleID: try rows.identifier(row, 2), environment: environment)
      let number = try rows.number(row, 0)
      loaded.numbers.add(scope, number)
      loaded.scopes[number] = scope
    }
    let all = loaded
    state.withLock { state in
      guard state.generation == generation else { return }
      state.contents.numbers.add(all.numbers)
      state.contents.scopes.merge(all.scopes) { $1 }
    }
    return all
  }

  private func known(_ scope: AppScope) -> Int64? {
    state.withLock { $0.contents.numbers.number(of: scope) }
  }

  static let all = PostgresStatement(
    "SELECT id, environment, bundle_id FROM scopes", name: "all_scopes")
  static let insert = PostgresStatement(
    """
    INSERT INTO scopes (environment, bundle_id) VALUES ($1::text, $2::text) ON CONFLICT DO NOTHING
    """, name: "insert_scope")
}

/// The numbers of some apps and environments in the tables. A number never changes.
struct ScopeNumbers: Sendable {
  private(set) var numbers: [AppScope: Int64] = [:]

  init() {}

  /// 0, which the tables give to none, for one that is not known.
  subscript(scope: AppScope) -> Int64 { numbers[scope] ?? 0 }

  var all: [Int64] { Array(numbers.values) }

  func number(of scope: AppScope) -> Int64? { numbers[scope] }

  func scope(of number: Int64) -> AppScope? { numbers.first { $0.value == number }?.key }

  mutating func add(_ scope: AppScope, _ number: Int64) { numbers[scope] = number }

  mutating func add(_ others: ScopeNumbers) { numbers.merge(others.numbers) { $1 } }
}
