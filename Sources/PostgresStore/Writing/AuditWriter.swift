import EntitlementDomain
import EntitlementStore

/// Gives the audited calls of a transaction their places in the chain of this process (R78).
struct AuditWriter {
  private let appender: AuditAppender
  private let scopes: PostgresScopeIDs

  var entries: [AuditEntry] { appender.entries }

  /// Locks the chain until the end of the transaction. One round trip.
  ///
  /// - Throws: ``PostgresFailure``, or ``StoreError`` when a stored value cannot be decoded.
  static func begin(
    _ calls: [AuditCall], trail: AuditTrail, scopes: PostgresScopeIDs, session: PostgresSession,
    within limit: Duration
  ) async throws -> AuditWriter {
    let place = trail.place
    let accounts = Array(Set(calls.flatMap(\.accounts)))
    let results = try await session.exchange(
      [
        PostgresCommand(AuditStatements.lockChain, [.text(place.chain)]),
        PostgresCommand(AuditStatements.head, [.text(place.chain)]),
        PostgresCommand(
          AuditStatements.pseudonyms,
          [.int64s(accounts.map { scopes[$0.scope] }), .texts(accounts.map(\.id.rawValue))]),
      ], within: limit)
    var head = AuditHead.start
    if results[1].count > 0 {
      head = AuditHead(position: try results[1].number(0, 0), hash: try results[1].string(0, 1))
    }
    var pseudonyms: [ScopedAccount: String] = [:]
    for row in 0..<results[2].count {
      guard let scope = scopes.scope(of: try results[2].number(row, 0)) else { continue }
      pseudonyms[ScopedAccount(scope, try results[2].identifier(row, 1))] =
        try results[2].string(row, 2)
    }
    var appender = try AuditAppender(
      node: trail.node, known: place, stored: head, pseudonyms: pseudonyms,
      at: calls.first?.at ?? 0)
    for call in calls { try appender.append(call) }
    return AuditWriter(appender: appender, scopes: scopes)
  }

  var commands: [PostgresCommand] {
    let place = appender.place
    var commands = [
      PostgresCommand(AuditStatements.addEntries, Self.values(entries)),
      PostgresCommand(
        AuditStatements.setHead,
        [.text(place.chain), .int64(place.head.position), .text(place.head.hash)]),
    ]
    let erased = Array(appender.erased)
    if !erased.isEmpty {
      commands.append(
        PostgresCommand(
          AuditStatements.deletePseudonyms,
          [.int64s(erased.map { scopes[$0.scope] }), .texts(erased.map(\.id.rawValue))]))
    }
    let added = Array(appender.added)
    if !added.isEmpty {
      commands.append(
        PostgresCommand(
          AuditStatements.addPseudonyms,
          [
            .int64s(added.map { scopes[$0.key.scope] }), .texts(added.map(\.key.id.rawValue)),
            .texts(added.map(\.value)),
          ]))
    }
    return commands
  }

  private static func values(_ entries: [AuditEntry]) -> [PostgresValue] {
    [
      .texts(entries.map(\.chain)), .int64s(entries.map(\.position)), .texts(entries.map(\.node)),
      .int64s(entries.map(\.at.rawValue)), .texts(entries.map(\.peer)),
      .texts(entries.map(\.method)), .texts(entries.map(\.bundleID)),
      .texts(entries.map(\.environment)), .texts(entries.map(\.account)),
      .texts(entries.map(\.formerAccount)), .texts(entries.map(\.author)),
      .texts(entries.map(\.reason)), .texts(entries.map(\.subject)),
      .texts(entries.map(\.outcome)), .texts(entries.map(\.previous)), .texts(entries.map(\.hash)),
      .texts(entries.map(\.onBehalfOf)), .texts(entries.map(\.proof)),
      .texts(entries.map(\.tokenID)),
    ]
  }
}
