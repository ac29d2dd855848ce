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

  /// Runs commands that may be run twice, in one round trip and one transaction, on a session.
  func write(_ commands: [PostgresCommand], within limit: Duration) async throws(StoreError)
    -> [PostgresRows]
  {
    do {
      return try await withSession(within: limit) { session throws(PostgresFailure) in
        try await session.exchange(commands, within: limit)
      }
    } catch {
      throw StoreError(of: error)
    }
  }
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
