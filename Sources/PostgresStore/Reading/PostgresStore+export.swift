package import EntitlementDomain
package import EntitlementStore

extension PostgresStore {
  package func export(_ account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountExport?
  {
    guard let number = try await scopes.number(of: scope) else { return nil }
    let values: [PostgresValue] = [.int64(number), .text(account.rawValue)]
    // Several statements on one snapshot: a transaction of its own.
    let commands =
      [PostgresCommand(Self.begin)]
      + [
        ReadStatements.account, ReadStatements.mergedIntoAccount, ReadStatements.tokensOfAccount,
        ReadStatements.linksOfAccount, ReadStatements.eventsOfAccount,
        ReadStatements.signedFactsOfAccount, ReadStatements.grantsOfAccount,
        ReadStatements.notificationsOfAccount,
      ].map { PostgresCommand($0, values) } + [PostgresCommand(Self.end)]
    let results = try await primary.write(commands, within: limits.readTimeLimit)
    guard results.count == commands.count else {
      throw StoreError(.internalFault, "PostgreSQL answered what was not expected")
    }
    let found = results[1]
    guard found.count > 0, try !found.flag(0, 3) else { return nil }
    let revision = try found.number(0, 1)
    return AccountExport(
      accountID: try found.identifier(0, 0), revision: revision,
      changedAt: revision > 0 ? try found.moment(0, 2) : nil,
      merged: try results[2].map { rows, row throws(StoreError) in try rows.identifier(row, 0) },
      tokens: try results[3].map { rows, row throws(StoreError) in try rows.identifier(row, 0) },
      links: try results[4].linkedTargets(), linkEvents: try results[5].targetEvents(),
      facts: try results[6].map { rows, row throws(StoreError) in
        try StoredFact.signed(rows, row, scope: scope)
      },
      grants: try results[7].map { rows, row throws(StoreError) in
        try rows.grant(row, 0, scope: scope)
      },
      notifications: try await receivedNotifications(results[8]))
  }

  private static let begin = PostgresStatement(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", name: "begin_reading")
  private static let end = PostgresStatement("COMMIT", name: "end_reading")
}
