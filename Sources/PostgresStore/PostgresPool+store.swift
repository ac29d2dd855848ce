import EntitlementStore

extension PostgresPool {
  /// As ``read(_:within:)``, with the store's errors.
  func query(_ commands: [PostgresCommand], within limit: Duration) async throws(StoreError)
    -> [PostgresRows]
  {
    do throws(PostgresFailure) {
      return try await read(commands, within: limit)
    } catch {
      throw StoreError(translating: error)
    }
  }

  /// One statement that only reads.
  func query(
    _ statement: PostgresStatement, _ values: [PostgresValue], within limit: Duration
  ) async throws(StoreError) -> PostgresRows {
    let results = try await query([PostgresCommand(statement, values)], within: limit)
    guard let rows = results.first else {
      throw StoreError(.internalFault, "PostgreSQL answered what was not expected")
    }
    return rows
  }

  /// Runs commands that may be run twice, in one round trip and one transaction, on a session: again
  /// when the connection was lost or somebody was in their way.
  ///
  /// - Parameter limit: for all of it.
  func write(_ commands: [PostgresCommand], within limit: Duration) async throws(StoreError)
    -> [PostgresRows]
  {
    let deadline = ContinuousClock.now + limit
    var left: Duration { ContinuousClock.now.duration(to: deadline) }
    var attempts = 0
    while true {
      attempts += 1
      do {
        return try await withSession(within: left) { session throws(PostgresFailure) in
          try await session.exchange(commands, within: left)
        }
      } catch {
        let mayGoOn = attempts < Self.maximumAttempts && left > .zero
        guard mayGoOn, (error as? PostgresFailure)?.isWorthAnotherAttempt == true else {
          throw StoreError(of: error)
        }
      }
    }
  }

  /// A server that restarts ends a few connections, one after the other.
  private static let maximumAttempts = 4
}

extension StoreError {
  /// Of whatever a call of ``PostgresPool`` throws.
  init(of error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let failure as PostgresFailure: self.init(translating: failure)
    default: self.init(.internalFault, "unexpected error of type \(type(of: error))")
    }
  }
}
