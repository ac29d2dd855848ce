import EntitlementDomain

/// Statements outside of writing transactions, except those of customers (``CustomerStatement``).
enum ReadStatements {
  // MARK: Facts and notifications

  /// `$1` scope, `$2` kind, `$3` packed identifier.
  static let signedFact = PostgresStatement(
    """
    SELECT \(factColumns), headers.bytes, documents.bytes
    FROM (
      SELECT \(Targets.ofFact(
        kind: "$2::bigint", identifier: "$3::bytea", listed: listedTransaction)) AS target
      OFFSET 0) AS owner
    JOIN facts
      ON facts.target = owner.target AND facts.scope = $1::bigint AND facts.kind = $2::bigint
      AND facts.identifier = \(Targets.storedIdentifier(
        "$3::bytea", kind: "$2::bigint", in: "owner.target"))
      LEFT JOIN LATERAL (
        SELECT headers.bytes FROM headers WHERE headers.id = facts.header OFFSET 0)
        AS headers ON true
      LEFT JOIN LATERAL (
        SELECT documents.bytes FROM documents WHERE documents.digest = facts.document OFFSET 0)
        AS documents ON true
    """, name: "signed_fact")

  private static let listedTransaction = """
    (SELECT transactions.target FROM transactions
      WHERE $2::bigint = 1 AND transactions.scope = $1::bigint
        AND transactions.transaction_id = $3::bytea)
    """

  /// The apps of the signed transactions that name a chain, or that once named it (R55). `$1` target.
  static let scopesOfChain = PostgresStatement(
    """
    SELECT facts.scope FROM facts
    WHERE facts.target = $1::bytea AND facts.kind = 1 AND facts.authority > 0
    UNION
    SELECT scopes.id FROM scopes JOIN links
      ON links.scope = scopes.id AND links.target = $1::bytea
    WHERE links.is_former_chain
    """, name: "scopes_of_chain")

  /// `$1` UUID.
  static let notification = PostgresStatement(
    """
    SELECT \(notificationColumns), headers.bytes
    FROM notifications LEFT JOIN LATERAL (
      SELECT headers.bytes FROM headers WHERE headers.id = notifications.header OFFSET 0)
      AS headers ON true
    WHERE notifications.uuid = $1::text
    """, name: "notification")

  /// Notifications, newest first, among the `$4` that come first at a place. `$1` the moment and `$2`
  /// the UUID to continue after, `$3` the earliest moment, `$5` the scopes or NULL, `$6` the type or
  /// NULL, `$7` the limit. The last of the `$4` is returned too if there is room.
  static let notificationPage = PostgresStatement(
    """
    WITH scanned AS MATERIALIZED (
      SELECT \(recordColumns), notifications.chain,
        row_number() OVER (
          ORDER BY notifications.received_at DESC, notifications.uuid DESC) AS place
      FROM notifications
      WHERE (notifications.received_at, notifications.uuid) < ($1::bigint, $2::text)
        AND notifications.received_at >= $3::bigint
      ORDER BY notifications.received_at DESC, notifications.uuid DESC LIMIT $4::bigint),
    judged AS (
      SELECT scanned.*,
        ($5::bigint[] IS NULL OR scope = ANY ($5::bigint[])) IS TRUE
          AND ($6::text IS NULL OR type = $6::text) AS is_selected
      FROM scanned)
    SELECT uuid, scope, type, subtype, status, signed_date, received_at, digest, chain, place,
      is_selected
    FROM judged WHERE is_selected OR place = $4::bigint
    ORDER BY place LIMIT $7::bigint
    """, name: "notification_page")

  // MARK: Accounts and links

  /// `$1` scope, `$2` the account to continue after, `$3` the limit.
  static let accountPage = PostgresStatement(
    """
    SELECT accounts.account, accounts.revision, accounts.changed_at, accounts.chains
    FROM accounts
    WHERE accounts.scope = $1::bigint AND accounts.account > $2::text
      AND accounts.merged_into IS NULL AND NOT accounts.is_deleted
    ORDER BY accounts.account LIMIT $3::bigint
    """, name: "account_page")

  /// `$1` scope, `$2` the target to continue after, `$3` the limit.
  static let unlinkedChainPage = PostgresStatement(
    """
    SELECT links.target, links.revision, links.changed_at FROM links
    WHERE links.scope = $1::bigint AND links.target > $2::bytea
      AND links.target < \(Targets.afterChains) AND links.account IS NULL
    ORDER BY links.target LIMIT $3::bigint
    """, name: "unlinked_chain_page")

  /// `$1` scope, `$2` account. The following statements have the same parameters.
  static let account = PostgresStatement(
    """
    WITH \(owner)
    SELECT accounts.account, accounts.revision, accounts.changed_at, accounts.is_deleted
    FROM owner JOIN accounts
      ON accounts.scope = $1::bigint AND accounts.account = owner.account
    """, name: "account")

  static let grantsOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(LoadStatements.grantColumns("grants"))
    FROM owner JOIN grants ON grants.scope = $1::bigint AND grants.account = owner.account
    ORDER BY grants.created_at, grants.grant_id
    """, name: "grants_of_account")

  static let linksOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT links.target, links.is_unsigned,
      CASE WHEN links.event_position IS NULL THEN event.at ELSE links.changed_at END,
      coalesce(\(PlainLinkEvent.storedReason), event.reason), links.standing
    FROM owner JOIN \(ownersTargets) \(Targets.rows(of: "links"))
      LEFT JOIN LATERAL (
        SELECT link_events.at, link_events.reason FROM link_events
        WHERE link_events.scope = $1::bigint AND link_events.target = held.target
          AND links.event_position IS NULL
        ORDER BY link_events.position DESC LIMIT 1) AS event ON true
    ORDER BY \(Targets.order(of: "links.target"))
    """, name: "links_of_account")

  /// `$3` the token before the first one, `$4` the limit.
  static let tokenPage = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(tokenColumns) FROM owner JOIN tokens
      ON tokens.scope = $1::bigint AND tokens.account = owner.account
    WHERE tokens.token > $3::bytea
    ORDER BY tokens.token LIMIT $4::bigint
    """, name: "token_page")

  /// `$1` scope, `$2` the token before the first one, `$3` the limit. 2 is
  /// AccountTokenState.ambiguous.
  static let ambiguousTokens = PostgresStatement(
    """
    SELECT \(tokenColumns) FROM tokens
    WHERE tokens.scope = $1::bigint AND tokens.token > $2::bytea AND tokens.state = 2
    ORDER BY tokens.token LIMIT $3::bigint
    """, name: "ambiguous_tokens")

  /// Includes the events of accounts that were merged into this one. Events of a target that the
  /// account has are found by the target, the others in `account_events`, which may have some of the
  /// former too.
  static let eventsOfAccount = PostgresStatement(
    """
    WITH \(owner),
    names AS MATERIALIZED (
      SELECT owner.account FROM owner
      UNION SELECT accounts.account FROM owner JOIN accounts
        ON accounts.scope = $1::bigint AND accounts.merged_into = owner.account),
    steps AS MATERIALIZED (
      SELECT account_events.target, account_events.position
      FROM names JOIN account_events
        ON account_events.scope = $1::bigint AND account_events.account = names.account
      UNION
      SELECT link_events.target, link_events.position
      FROM owner JOIN \(ownersTargets) \(Targets.rows(of: "link_events"))
      WHERE owner.account IN (link_events.from_account, link_events.to_account))
    SELECT link_events.target, \(eventColumns)
    FROM steps JOIN link_events
      ON link_events.scope = $1::bigint AND link_events.target = steps.target
      AND link_events.position = steps.position
    UNION ALL
    SELECT links.target, \(plainEventColumns)
    FROM owner JOIN \(ownersTargets) \(Targets.rows(of: "links"))
    WHERE links.event_position IS NOT NULL
    ORDER BY position
    """, name: "events_of_account")

  /// `$1` scope, `$2` target.
  static let eventsOfTarget = PostgresStatement(
    """
    SELECT link_events.target, \(eventColumns) FROM link_events
    WHERE link_events.scope = $1::bigint AND link_events.target = $2::bytea
    UNION ALL
    SELECT links.target, \(plainEventColumns) FROM links
    WHERE links.scope = $1::bigint AND links.target = $2::bytea
      AND links.event_position IS NOT NULL
    ORDER BY position
    """, name: "events_of_target")

  /// `$1` scope, `$2` targets, `$3` an account or NULL, with those that were merged into it.
  static let refusedClaims = PostgresStatement(
    """
    WITH found AS (
      SELECT * FROM refused_claims WHERE scope = $1::bigint AND target = ANY ($2::bytea[])
      UNION SELECT * FROM refused_claims WHERE scope = $1::bigint AND claimer = $3::text
      UNION SELECT refused_claims.* FROM accounts JOIN refused_claims
        ON refused_claims.scope = $1::bigint AND refused_claims.claimer = accounts.account
        WHERE accounts.scope = $1::bigint AND accounts.merged_into = $3::text)
    SELECT found.target, found.claimer, found.at, \(authorBytes("found.author")), found.trace
    FROM found ORDER BY found.at, found.claimer
    """, name: "refused_claims")

  static let all = [
    refusedClaims, signedFact, scopesOfChain, notification, notificationPage, accountPage,
    unlinkedChainPage,
    account,
    grantsOfAccount, linksOfAccount, eventsOfAccount, eventsOfTarget, mergedIntoAccount,
    tokensOfAccount, tokenPage, ambiguousTokens, signedFactsOfAccount, historiesOfAccount,
    versionsOfAccount,
    documentsOfAccount, headersOfAccount,
    notificationsOfAccount, notificationRecordsOfAccount,
  ]

  // MARK: Parts

  /// The account with a name; for a merged account, the one that it was merged into.
  static let owner = """
    owner AS MATERIALIZED (
      SELECT coalesce(accounts.merged_into, accounts.account) AS account FROM accounts
      WHERE accounts.scope = $1::bigint AND accounts.account = $2::text)
    """

  private static let ownersTargets = Targets.ofAccount(of: "owner")

  /// The columns that `PostgresStoredFact.signed` reads.
  static let factColumns = """
    facts.kind, facts.authority, facts.digest, facts.payload, facts.signature, facts.document,
      \(Targets.rowTexts(of: "facts"))
    """

  static let eventColumns = """
    link_events.from_account, link_events.to_account, link_events.is_from_erased,
    link_events.is_to_erased, link_events.reason, \(authorBytes("link_events.author")),
    link_events.note, link_events.at, link_events.on_behalf_of, link_events.trace,
    link_events.position
    """

  /// The same of a ``PlainLinkEvent``.
  private static let plainEventColumns = """
    NULL, links.account, false, false, \(PlainLinkEvent.storedReason),
    \(authorBytes("links.event_author")), NULL, links.changed_at, NULL,
    nullif(links.event_trace, ''), links.event_position
    """

  /// A ``LinkAuthor``; NULL where there is none.
  private static func authorBytes(_ id: String) -> String {
    "(SELECT headers.bytes FROM headers WHERE headers.id = \(id) OFFSET 0)"
  }

  static let recordColumns = """
    notifications.uuid, notifications.scope, notifications.type, notifications.subtype,
    notifications.status, notifications.signed_date, notifications.received_at,
    notifications.digest
    """

  static let notificationColumns = """
    \(recordColumns), notifications.payload, notifications.signature
    """
}

// Statements for the history and the export of an account. `$1` scope, `$2` account.
extension ReadStatements {
  static let mergedIntoAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT accounts.account FROM owner JOIN accounts
      ON accounts.scope = $1::bigint AND accounts.merged_into = owner.account
    ORDER BY accounts.account
    """, name: "merged_into_account")

  static let tokensOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(tokenColumns) FROM owner JOIN tokens
      ON tokens.scope = $1::bigint AND tokens.account = owner.account
    ORDER BY tokens.token
    """, name: "tokens_of_account")

  private static let tokenColumns = """
    tokens.token, tokens.account, tokens.state, tokens.author, tokens.note, tokens.since,
    tokens.on_behalf_of
    """

  static let signedFactsOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(factColumns), facts.header
    FROM \(ownersFacts)
    ORDER BY \(Targets.order(of: "facts.target")), facts.kind, facts.identifier
    """, name: "signed_facts_of_account")

  static let historiesOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT facts.kind, \(Targets.identifier(of: "facts")), facts.history
    FROM \(ownersFacts) WHERE facts.history IS NOT NULL
    ORDER BY \(Targets.order(of: "facts.target")), facts.kind, facts.identifier
    """, name: "histories_of_account")

  static let versionsOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT versions.kind, \(Targets.identifier(of: "versions")), versions.authority, versions.statement,
      versions.payload, versions.signature, versions.header
    FROM \(ownersVersions)
    """, name: "versions_of_account")

  /// The documents of these facts. Facts of one document share its row.
  static let documentsOfAccount = PostgresStatement(
    """
    WITH \(owner),
    needed AS MATERIALIZED (
      SELECT DISTINCT facts.document FROM \(ownersFacts) WHERE facts.document IS NOT NULL)
    SELECT documents.digest, documents.bytes
    FROM needed JOIN documents ON documents.digest = needed.document
    """, name: "documents_of_account")

  /// The headers of these facts, versions and notifications, by id. Payloads of one signer share a
  /// row.
  static let headersOfAccount = PostgresStatement(
    """
    WITH \(owner),
    needed AS MATERIALIZED (
      SELECT facts.header FROM \(ownersFacts)
      UNION SELECT versions.header FROM \(ownersVersions)
      UNION SELECT notifications.header FROM \(ownersNotifications))
    SELECT headers.id, headers.bytes FROM needed JOIN headers ON headers.id = needed.header
    """, name: "headers_of_account")

  static let notificationsOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(notificationColumns), notifications.header
    FROM \(ownersNotifications)
    ORDER BY notifications.received_at, notifications.uuid
    """, name: "notifications_of_account")

  /// The same notifications without their signed payloads.
  static let notificationRecordsOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(recordColumns)
    FROM \(ownersNotifications)
    ORDER BY notifications.received_at, notifications.uuid
    """, name: "notification_records_of_account")

  private static let ownersFacts = """
    owner JOIN \(ownersTargets) \(Targets.rows(of: "facts"))
    """

  private static let ownersVersions = """
    owner JOIN \(ownersTargets) \(Targets.rows(of: "versions"))
    """

  private static let ownersNotifications = """
    owner JOIN \(ownersTargets)
      CROSS JOIN LATERAL (
        SELECT * FROM notifications
        WHERE notifications.scope = $1::bigint
          AND notifications.chain = held.target
        OFFSET 0) AS notifications
    """
}
