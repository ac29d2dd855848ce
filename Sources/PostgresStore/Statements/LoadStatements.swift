import EntitlementStore

/// Statements that load the rows a ledger needs, many rows of one kind at once. The first column is
/// the position, from 1, of the key in the parameter arrays.
enum LoadStatements {
  /// `$1` scopes, `$2` kinds, `$3` packed identifiers.
  static let standingFacts = PostgresStatement(
    """
    SELECT key.place, fact.target, fact.authority, fact.signed_date, fact.is_revoked,
      fact.is_upgraded, fact.digest, fact.document, fact.history,
      CASE WHEN fact.kind <> 3 THEN fact.payload END, fact.app_transaction, fact.token,
      fact.previous_chain, fact.supplement
    FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])
      WITH ORDINALITY AS key (scope, kind, identifier, place)
    LEFT JOIN LATERAL (
      SELECT transactions.target FROM transactions
      WHERE key.kind = 1 AND transactions.scope = key.scope
        AND transactions.transaction_id = key.identifier
      OFFSET 0) AS listed ON true
    CROSS JOIN LATERAL (
      SELECT \(Targets.ofFact(
        kind: "key.kind", identifier: "key.identifier", listed: "listed.target")) AS target
      OFFSET 0) AS owner
    CROSS JOIN LATERAL (
      SELECT * FROM facts
      WHERE facts.target = owner.target AND facts.scope = key.scope AND facts.kind = key.kind
        AND facts.identifier = \(Targets.storedIdentifier(
          "key.identifier", kind: "key.kind", in: "owner.target"))
      OFFSET 0) AS fact
    """, name: "load_standing_facts")

  /// `$1` scopes, `$2` targets. With the row of the link's account.
  static let links = PostgresStatement(
    """
    SELECT key.place, link.account, link.is_unsigned, link.is_detached, link.is_former_chain,
      link.standing, link.revision,
      \(accountColumns("holder"))
    FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS key (scope, target, place)
    CROSS JOIN LATERAL (
      SELECT * FROM links WHERE links.scope = key.scope AND links.target = key.target
      OFFSET 0) AS link
    LEFT JOIN LATERAL (\(account("link.account"))) AS holder ON true
    """, name: "load_links")

  /// `$1` scopes, `$2` accounts. With the row of the account that it was merged into.
  static let accounts = PostgresStatement(
    """
    SELECT key.place, \(accountColumns("named")), \(accountColumns("other"))
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS key (scope, account, place)
    CROSS JOIN LATERAL (\(account("key.account"))) AS named
    LEFT JOIN LATERAL (\(account("named.merged_into"))) AS other ON true
    """, name: "load_accounts")

  /// `$1` scopes, `$2` tokens. With the row of the token's account.
  static let tokens = PostgresStatement(
    """
    SELECT key.place, owner.account, owner.state, owner.author, owner.note, owner.since,
      owner.on_behalf_of,
      \(accountColumns("holder"))
    FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS key (scope, token, place)
    CROSS JOIN LATERAL (
      SELECT * FROM tokens WHERE tokens.scope = key.scope AND tokens.token = key.token
      OFFSET 0) AS owner
    LEFT JOIN LATERAL (\(account("owner.account"))) AS holder ON true
    """, name: "load_tokens")

  /// Hints of facts that Apple signed. `$1` scopes, `$2` targets.
  static let hints = PostgresStatement(
    """
    SELECT key.place, fact.kind, \(Targets.identifier(of: "fact")), fact.signed_date, fact.digest,
      fact.app_transaction, fact.token, fact.previous_chain
    FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS key (scope, target, place)
    CROSS JOIN LATERAL (
      SELECT * FROM facts
      WHERE facts.target = key.target AND facts.scope = key.scope AND facts.authority > 0
      OFFSET 0) AS fact
    ORDER BY key.place, fact.signed_date DESC, fact.digest DESC
    """, name: "load_hints")

  /// The latest events of targets, without those that are kept with their links. `$1` scopes, `$2` targets.
  static let events = PostgresStatement(
    """
    SELECT key.place, \(ReadStatements.eventColumns)
    FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS key (scope, target, place)
    CROSS JOIN LATERAL (
      SELECT * FROM link_events
      WHERE link_events.scope = key.scope AND link_events.target = key.target
      ORDER BY link_events.position DESC LIMIT \(ClaimHistory.eventLimit)) AS link_events
    ORDER BY key.place, link_events.position
    """, name: "load_events")

  /// `$1` scopes, `$2` targets, `$3` claimers.
  static let refusedClaims = PostgresStatement(
    """
    SELECT key.place, kept.at
    FROM unnest($1::bigint[], $2::bytea[], $3::text[])
      WITH ORDINALITY AS key (scope, target, claimer, place)
    CROSS JOIN LATERAL (
      SELECT at FROM refused_claims AS claim
      WHERE claim.scope = key.scope AND claim.target = key.target AND claim.claimer = key.claimer
      OFFSET 0) AS kept
    """, name: "load_refused_claims")

  /// `$1` scopes, `$2` targets.
  static let facts = PostgresStatement(
    """
    SELECT key.place, fact.kind, fact.authority, fact.digest, fact.payload,
      \(Targets.rowTexts(of: "fact")), fact.supplement
    FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS key (scope, target, place)
    CROSS JOIN LATERAL (
      SELECT * FROM facts WHERE facts.target = key.target AND facts.scope = key.scope
      OFFSET 0) AS fact
    """, name: "load_facts")

  /// The chains without an account that carry a hint. `$1` scopes, `$2` tokens, `$3` app transactions,
  /// `$4` previous chains: one of the three for each key, the others are NULL.
  static let unlinkedChains = PostgresStatement(
    """
    SELECT carrier.place, carrier.target
    FROM (
      SELECT DISTINCT place, scope, target FROM (
        \(HintColumn.allCases.map(carriers).joined(separator: "\n    UNION ALL ")))
        AS fact (place, scope, target)
      OFFSET 0) AS carrier
    CROSS JOIN LATERAL (
      SELECT 1 FROM links
      WHERE links.scope = carrier.scope AND links.target = carrier.target AND links.account IS NULL
      OFFSET 0) AS link
    ORDER BY carrier.place, carrier.target
    """, name: "load_unlinked_chains")

  /// `$1` scopes, `$2` grant ids. With the row of the grant's account.
  static let grants = PostgresStatement(
    """
    SELECT key.place, \(grantColumns("owned")), \(accountColumns("holder"))
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS key (scope, grant_id, place)
    CROSS JOIN LATERAL (
      SELECT * FROM grants WHERE grants.scope = key.scope AND grants.grant_id = key.grant_id
      OFFSET 0) AS owned
    LEFT JOIN LATERAL (\(account("owned.account"))) AS holder ON true
    """, name: "load_grants")

  /// `$1` scopes, `$2` accounts. The next three statements have the same parameters.
  static let holdingsTargets = PostgresStatement(
    """
    SELECT key.place, held.target
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS key (scope, account, place)
    CROSS JOIN LATERAL (
      SELECT unnest(\(Targets.all(of: "accounts"))) AS target FROM accounts
      WHERE accounts.scope = key.scope AND accounts.account = key.account
      OFFSET 0) AS held
    WHERE held.target IS NOT NULL
    ORDER BY key.place, \(Targets.order(of: "held.target"))
    """, name: "load_holdings_targets")

  static let holdingsTokens = PostgresStatement(
    """
    SELECT key.place, held.token
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS key (scope, account, place)
    CROSS JOIN LATERAL (
      SELECT tokens.token FROM tokens
      WHERE tokens.scope = key.scope AND tokens.account = key.account
      OFFSET 0) AS held
    ORDER BY key.place, held.token
    """, name: "load_holdings_tokens")

  static let holdingsGrants = PostgresStatement(
    """
    SELECT key.place, \(grantColumns("owned"))
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS key (scope, account, place)
    CROSS JOIN LATERAL (
      SELECT * FROM grants WHERE grants.scope = key.scope AND grants.account = key.account
      OFFSET 0) AS owned
    ORDER BY key.place, owned.created_at, owned.grant_id
    """, name: "load_holdings_grants")

  static let holdingsMerged = PostgresStatement(
    """
    SELECT key.place, held.account
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS key (scope, account, place)
    CROSS JOIN LATERAL (
      SELECT accounts.account FROM accounts
      WHERE accounts.scope = key.scope AND accounts.merged_into = key.account
      OFFSET 0) AS held
    ORDER BY key.place, held.account
    """, name: "load_holdings_merged")

  /// `$1` UUIDs.
  static let notifications = PostgresStatement(
    """
    SELECT key.place
    FROM unnest($1::text[]) WITH ORDINALITY AS key (uuid, place)
    CROSS JOIN LATERAL (
      SELECT 1 FROM notifications WHERE notifications.uuid = key.uuid OFFSET 0) AS known
    """, name: "load_notifications")

  static let all = [
    standingFacts, links, events, refusedClaims, accounts, tokens, hints, facts, unlinkedChains,
    grants,
    holdingsTargets,
    holdingsTokens, holdingsGrants, holdingsMerged, notifications,
  ]

  // MARK: Parts

  /// The targets of the signed facts that carry a hint of one kind, for the keys that have such a hint.
  private static func carriers(_ column: HintColumn) -> String {
    """
    SELECT key.place, key.scope, fact.target
      FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[])
        WITH ORDINALITY AS key (scope, token, app_transaction, previous_chain, place)
      CROSS JOIN LATERAL (
        SELECT facts.target FROM facts
        WHERE facts.scope = key.scope AND facts.\(column) = key.\(column) AND facts.authority > 0
        OFFSET 0) AS fact
      WHERE key.\(column) IS NOT NULL
    """
  }

  /// The columns that `LoadedRows.takeAccount` reads.
  private static func accountColumns(_ table: String) -> String {
    """
    \(table).account, \(table).revision, \(table).merged_into, \(table).is_deleted,
    \(table).claims, \(table).claims_since, \(table).chains
    """
  }

  /// The columns in the order of ``GrantColumns/following(account:)``.
  static func grantColumns(_ table: String) -> String {
    """
    \(table).account, \(table).grant_id, \(table).entitlement_id, \(table).starts,
    \(table).expires, \(table).reason, \(table).author, \(table).created_at,
    \(table).withdrawn_at, \(table).withdrawn_by, \(table).withdrawal_reason,
    \(table).on_behalf_of, \(table).withdrawn_on_behalf_of
    """
  }

  private static func account(_ id: String) -> String {
    "SELECT * FROM accounts WHERE accounts.scope = key.scope AND accounts.account = \(id) OFFSET 0"
  }
}
