import EntitlementStore

/// Statements that write what a ledger decided, all rows of one kind at once. A plain INSERT costs
/// less than an upsert, so tables that need both have a statement for each.
enum WriteStatements {
  /// The schema that this program writes. A migration that it does not know may refuse it.
  static let schemaVersion = 1

  /// `$1` the token of this transaction, `$2` a token whose outcome is known and which is deleted.
  static let writeToken = PostgresStatement(
    """
    WITH known AS (DELETE FROM commit_tokens WHERE token = $2::bytea)
    INSERT INTO commit_tokens (token, base, writer_schema)
    VALUES ($1::bytea, \(FeedNumbers.base), \(schemaVersion))
    RETURNING base
    """, name: "write_token")

  // MARK: Facts

  /// `$1` scopes, `$2` former targets, `$3` kinds, `$4` stored identifiers.
  static let deleteFacts = PostgresStatement(
    """
    DELETE FROM facts
    USING unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[])
      AS gone (scope, target, kind, identifier)
    WHERE facts.target = gone.target AND facts.scope = gone.scope AND facts.kind = gone.kind
      AND facts.identifier = gone.identifier
    """, name: "delete_facts")

  static let addFacts = PostgresStatement(newFacts, name: "add_facts")

  static let writeFacts = PostgresStatement(
    """
    \(newFacts)
    ON CONFLICT (target, identifier, scope) DO UPDATE SET
      authority = excluded.authority, header = excluded.header,
      signed_date = excluded.signed_date, is_revoked = excluded.is_revoked,
      is_upgraded = excluded.is_upgraded, app_transaction = excluded.app_transaction,
      token = excluded.token, previous_chain = excluded.previous_chain,
      digest = excluded.digest, signature = excluded.signature, document = excluded.document,
      payload = excluded.payload, history = excluded.history, supplement = excluded.supplement
    """, name: "write_facts")

  private static let newFacts = """
    INSERT INTO facts (
      scope, target, kind, identifier, authority, header, signed_date, is_revoked, is_upgraded,
      app_transaction, token, previous_chain, digest, signature, document, payload, history,
      supplement)
    SELECT * FROM unnest(
      $1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[],
      $7::bigint[], $8::boolean[], $9::boolean[], $10::bytea[], $11::bytea[], $12::bytea[],
      $13::bytea[], $14::bytea[], $15::bytea[], $16::bytea[], $17::bytea[],
      $18::bytea[])
    """

  // MARK: Versions

  /// Updates the history and supplement of facts whose standing version stays. `$1` scopes, `$2` targets,
  /// `$3` kinds, `$4` identifiers, `$5` histories, `$6` supplements.
  static let writeHistories = PostgresStatement(
    """
    UPDATE facts SET history = changed.history, supplement = changed.supplement
    FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[])
      AS changed (scope, target, kind, identifier, history, supplement)
    WHERE facts.target = changed.target AND facts.scope = changed.scope
      AND facts.kind = changed.kind AND facts.identifier = changed.identifier
    """, name: "write_histories")

  /// Moves the versions of facts to the facts' new target. `$1` scopes, `$2` former targets, `$3`
  /// kinds, `$4` identifiers as stored there, `$5` new targets, `$6` identifiers as stored in these.
  static let moveVersions = PostgresStatement(
    """
    UPDATE versions SET target = moved.new_target, identifier = moved.new_identifier
    FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[])
      AS moved (scope, target, kind, identifier, new_target, new_identifier)
    WHERE versions.target = moved.target AND versions.scope = moved.scope
      AND versions.kind = moved.kind AND versions.identifier = moved.identifier
    """, name: "move_versions")

  /// `$1` scopes, `$2` targets, `$3` kinds, `$4` identifiers, `$5` statements.
  static let deleteVersions = PostgresStatement(
    """
    DELETE FROM versions
    USING unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[])
      AS gone (scope, target, kind, identifier, statement)
    WHERE versions.target = gone.target AND versions.scope = gone.scope
      AND versions.kind = gone.kind AND versions.identifier = gone.identifier
      AND versions.statement = gone.statement
    """, name: "delete_versions")

  /// Copies standing versions that are about to be replaced. `$1` scopes, `$2` stored targets, `$3`
  /// kinds, `$4` identifiers as stored there, `$5` statements, `$6` targets of the copies, `$7`
  /// identifiers as stored in these, `$8` payloads: that of the fact needs its row.
  static let copyStandingVersions = PostgresStatement(
    """
    INSERT INTO versions (
      scope, target, kind, authority, header, identifier, statement, signature, payload)
    SELECT facts.scope, kept.new_target, facts.kind, facts.authority, facts.header,
      kept.new_identifier, kept.statement, facts.signature, kept.payload
    FROM unnest(
        $1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[],
        $7::bytea[], $8::bytea[])
      AS kept (scope, target, kind, identifier, statement, new_target, new_identifier, payload)
    JOIN facts ON facts.target = kept.target AND facts.scope = kept.scope
      AND facts.kind = kept.kind AND facts.identifier = kept.identifier
    """, name: "copy_standing_versions")

  /// `$1` scopes, `$2` targets, `$3` kinds, `$4` authorities, `$5` headers, `$6` identifiers, `$7`
  /// statements, `$8` signatures, `$9` payloads.
  static let addVersions = PostgresStatement(
    """
    INSERT INTO versions (
      scope, target, kind, authority, header, identifier, statement, signature, payload)
    SELECT * FROM unnest(
      $1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[],
      $7::bytea[], $8::bytea[], $9::bytea[])
    """, name: "add_versions")

  // MARK: Transactions

  /// Only transactions that are not in the chain that has their id. `$1` scopes, `$2` transaction
  /// ids, `$3` targets.
  static let addTransactions = PostgresStatement(newTransactions, name: "add_transactions")

  /// As ``addTransactions``.
  static let writeTransactions = PostgresStatement(
    """
    \(newTransactions)
    ON CONFLICT (scope, transaction_id) DO UPDATE SET target = excluded.target
    """, name: "write_transactions")

  private static let newTransactions = """
    INSERT INTO transactions (scope, transaction_id, target)
    SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])
    """

  /// `$1` scopes, `$2` ids of transactions that are in the chain that has their id.
  static let deleteTransactions = PostgresStatement(
    """
    DELETE FROM transactions
    USING unnest($1::bigint[], $2::bytea[]) AS gone (scope, transaction_id)
    WHERE transactions.scope = gone.scope AND transactions.transaction_id = gone.transaction_id
    """, name: "delete_transactions")

  // MARK: Documents

  /// `$1` digests, `$2` bytes. Updates a document that exists, which locks its row against a
  /// concurrent deletion.
  static let writeDocuments = PostgresStatement(
    """
    INSERT INTO documents (digest, bytes)
    SELECT * FROM unnest($1::bytea[], $2::bytea[])
    ON CONFLICT (digest) DO UPDATE SET digest = excluded.digest
    """, name: "write_documents")

  /// Runs before ``deleteDocuments``, which then sees the facts of the last writer of each
  /// document. `$1` digests, sorted.
  static let lockDocuments = PostgresStatement(
    """
    SELECT 1 FROM unnest($1::bytea[]) AS released (digest)
    JOIN documents ON documents.digest = released.digest
    FOR UPDATE OF documents
    """, name: "lock_documents")

  /// `$1` digests.
  static let deleteDocuments = PostgresStatement(
    """
    DELETE FROM documents USING unnest($1::bytea[]) AS released (digest)
    WHERE documents.digest = released.digest
      AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.document = released.digest)
    """, name: "delete_documents")

  // MARK: Links and accounts

  /// `$10` has ordinals of changes: the revision is computed from the ordinal where there is one.
  /// `$11` to `$14` have the place, the reason, the author (0 for none) and the trace of a
  /// ``PlainLinkEvent``.
  static let addLinks = PostgresStatement(newLinks, name: "add_links")

  /// The reason in ``writeLinks`` for a link that keeps its event.
  static let keptEvent: Int64 = 0

  /// As ``addLinks``.
  static let writeLinks = PostgresStatement(
    """
    \(newLinks)
    ON CONFLICT (scope, target) DO UPDATE SET
      account = excluded.account, is_unsigned = excluded.is_unsigned,
      is_detached = excluded.is_detached, is_former_chain = excluded.is_former_chain,
      standing = excluded.standing,
      event_position = CASE WHEN excluded.event_reason = \(keptEvent) THEN links.event_position
        ELSE excluded.event_position END,
      event_reason = CASE WHEN excluded.event_reason = \(keptEvent) THEN links.event_reason
        ELSE excluded.event_reason END,
      event_author = CASE WHEN excluded.event_reason = \(keptEvent) THEN links.event_author
        ELSE excluded.event_author END,
      event_trace = CASE WHEN excluded.event_reason = \(keptEvent) THEN links.event_trace
        ELSE excluded.event_trace END,
      changed_at = CASE WHEN excluded.revision = links.revision THEN links.changed_at
        ELSE excluded.changed_at END,
      revision = excluded.revision
    """, name: "write_links")

  private static let newLinks = """
    INSERT INTO links (
      scope, target, account, is_unsigned, is_detached, is_former_chain, standing, changed_at,
      revision, event_position, event_reason, event_author, event_trace)
    SELECT scope, target, account, is_unsigned, is_detached, is_former_chain, standing, changed_at,
      CASE WHEN ordinal IS NULL THEN revision ELSE \(FeedNumbers.base) + ordinal END,
      \(FeedNumbers.base) + place, event_reason, event_author, event_trace
    FROM unnest(
        $1::bigint[], $2::bytea[], $3::text[], $4::boolean[], $5::boolean[], $6::boolean[],
        $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
        $13::bigint[], $14::bytea[])
      AS row (
        scope, target, account, is_unsigned, is_detached, is_former_chain, standing, changed_at,
        revision, ordinal, place, event_reason, event_author, event_trace)
    """

  /// Copies the events that are kept with links to `link_events`, before ``writeLinks`` changes the
  /// links. `$1` scopes, `$2` targets.
  static let moveLinkEvents = PostgresStatement(
    """
    INSERT INTO link_events (
      scope, target, position, at, to_account, is_from_erased, is_to_erased, reason, author, trace)
    SELECT links.scope, links.target, links.event_position, links.changed_at, links.account, false,
      false, \(PlainLinkEvent.storedReason), nullif(links.event_author, 0),
      nullif(links.event_trace, '')
    FROM unnest($1::bigint[], $2::bytea[]) AS changed (scope, target)
    CROSS JOIN LATERAL (
      SELECT * FROM links
      WHERE links.scope = changed.scope AND links.target = changed.target
        AND links.event_position IS NOT NULL
      OFFSET 0) AS links
    """, name: "move_link_events")

  /// Adds the earlier events of accounts that a target leaves. `$1` scopes, `$2` accounts, `$3`
  /// targets. Some are there where the account has had the target before.
  static let keepAccountEvents = PostgresStatement(
    """
    INSERT INTO account_events (position, scope, account, target)
    SELECT event.position, former.scope, former.account, former.target
    FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS former (scope, account, target)
    CROSS JOIN LATERAL (
      SELECT link_events.position FROM link_events
      WHERE link_events.scope = former.scope AND link_events.target = former.target
        AND former.account IN (link_events.from_account, link_events.to_account)
      OFFSET 0) AS event
    ON CONFLICT DO NOTHING
    """, name: "keep_account_events")

  /// Changes which targets accounts have, after the accounts are written. `$1` scopes, `$2` accounts,
  /// `$3` gained and `$4` lost targets (``Targets/array(_:)``).
  static let moveAccountTargets = PostgresStatement(
    """
    UPDATE accounts SET (\(Targets.columns)) = (
      SELECT \(Targets.values(of: "held.targets"))
      FROM (
        SELECT array_remove(
          moved.gained::bytea[] || CASE WHEN moved.lost = '{}' THEN \(Targets.all(of: "accounts"))
            ELSE ARRAY(
              SELECT unnest(\(Targets.all(of: "accounts")))
              EXCEPT ALL SELECT unnest(moved.lost::bytea[])) END,
          NULL)) AS held (targets))
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
      AS moved (scope, account, gained, lost)
    WHERE accounts.scope = moved.scope AND accounts.account = moved.account
    """, name: "move_account_targets")

  /// `$10` as for ``addLinks``, `$11` the targets (``Targets/array(_:)``).
  static let addAccounts = PostgresStatement(newAccounts, name: "add_accounts")

  /// As ``addAccounts``, with the targets that the accounts gain. An upsert, because the row of a deleted
  /// account may have been removed meanwhile.
  static let writeAccounts = PostgresStatement(
    """
    \(newAccounts)
    ON CONFLICT (scope, account) DO UPDATE SET
      merged_into = excluded.merged_into, is_deleted = excluded.is_deleted,
      claims = excluded.claims, claims_since = excluded.claims_since,
      chains = excluded.chains,
      (\(Targets.columns)) = (
        SELECT accounts.first_target, accounts.second_target, accounts.more_targets
        WHERE excluded.first_target IS NULL
        UNION ALL
        SELECT \(Targets.values(of: "held.targets"))
        FROM (
          SELECT array_remove(
            \(Targets.all(of: "accounts")) || \(Targets.all(of: "excluded")), NULL))
          AS held (targets)
        WHERE excluded.first_target IS NOT NULL),
      changed_at = CASE WHEN excluded.revision = accounts.revision THEN accounts.changed_at
        ELSE excluded.changed_at END,
      revision = excluded.revision
    """, name: "write_accounts")

  private static let newAccounts = """
    INSERT INTO accounts (
      scope, account, merged_into, is_deleted, claims, claims_since, chains, changed_at, revision,
      \(Targets.columns))
    SELECT scope, account, merged_into, is_deleted, claims, claims_since, chains, changed_at,
      CASE WHEN ordinal IS NULL THEN revision ELSE \(FeedNumbers.base) + ordinal END,
      \(Targets.values(of: "(targets::bytea[])"))
    FROM unnest(
        $1::bigint[], $2::text[], $3::text[], $4::boolean[], $5::bigint[], $6::bigint[],
        $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[])
      AS row (
        scope, account, merged_into, is_deleted, claims, claims_since, chains, changed_at,
        revision, ordinal, targets)
    """

  /// `$1` scopes, `$2` tokens, `$3` accounts, `$4` states, `$5` authors, `$6` notes, `$7` moments.
  static let addTokens = PostgresStatement(newTokens, name: "add_tokens")

  /// As ``addTokens``.
  static let writeTokens = PostgresStatement(
    """
    \(newTokens)
    ON CONFLICT (scope, token) DO UPDATE SET
      account = excluded.account, state = excluded.state, author = excluded.author,
      note = excluded.note, since = excluded.since, on_behalf_of = excluded.on_behalf_of
    """, name: "write_tokens")

  private static let newTokens = """
    INSERT INTO tokens (scope, token, account, state, author, note, since, on_behalf_of)
    SELECT * FROM unnest(
      $1::bigint[], $2::bytea[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[],
      $8::text[])
    """

  /// `$1` scopes, `$2` tokens.
  static let deleteTokens = PostgresStatement(
    """
    DELETE FROM tokens USING unnest($1::bigint[], $2::bytea[]) AS gone (scope, token)
    WHERE tokens.scope = gone.scope AND tokens.token = gone.token
    """, name: "delete_tokens")

  // MARK: Grants

  /// `$1` scopes, `$2` accounts, `$3` moments of creation, `$4` ids.
  static let deleteGrants = PostgresStatement(
    """
    DELETE FROM grants
    USING unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])
      AS gone (scope, account, created_at, grant_id)
    WHERE grants.scope = gone.scope AND grants.account = gone.account
      AND grants.created_at = gone.created_at AND grants.grant_id = gone.grant_id
    """, name: "delete_grants")

  static let writeGrants = PostgresStatement(
    """
    INSERT INTO grants (
      scope, account, created_at, grant_id, entitlement_id, starts, expires, reason, author,
      withdrawn_at, withdrawn_by, withdrawal_reason, on_behalf_of, withdrawn_on_behalf_of)
    SELECT * FROM unnest(
      $1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
      $8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[],
      $13::text[], $14::text[])
    ON CONFLICT (scope, account, created_at, grant_id) DO UPDATE SET
      withdrawn_at = excluded.withdrawn_at, withdrawn_by = excluded.withdrawn_by,
      withdrawal_reason = excluded.withdrawal_reason,
      withdrawn_on_behalf_of = excluded.withdrawn_on_behalf_of
    """, name: "write_grants")

  // MARK: History, feed and notifications

  static let writeNotifications = PostgresStatement(
    """
    INSERT INTO notifications (
      uuid, scope, header, status, signed_date, received_at, type, subtype, chain, digest,
      signature, payload)
    SELECT * FROM unnest(
      $1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
      $7::text[], $8::text[], $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[])
    """, name: "write_notifications")

  /// The first array has the ordinals of the events within the transaction.
  static let writeLinkEvents = PostgresStatement(
    """
    INSERT INTO link_events (
      position, scope, target, at, from_account, to_account, is_from_erased, is_to_erased, reason,
      author, note, on_behalf_of, trace)
    SELECT \(FeedNumbers.base) + place, scope, target, at, from_account, to_account,
      is_from_erased, is_to_erased, reason, author, note, on_behalf_of, trace
    FROM unnest(
        $1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::text[], $6::text[],
        $7::boolean[], $8::boolean[], $9::text[], $10::bigint[], $11::text[], $12::text[],
        $13::bytea[])
      AS row (
        place, scope, target, at, from_account, to_account, is_from_erased, is_to_erased, reason,
        author, note, on_behalf_of, trace)
    """, name: "write_link_events")

  /// `$1` ordinals as for ``writeLinkEvents``, `$2` scopes, `$3` accounts that do not have the
  /// target, `$4` targets.
  static let writeAccountEvents = PostgresStatement(
    """
    INSERT INTO account_events (position, scope, account, target)
    SELECT \(FeedNumbers.base) + place, scope, account, target
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[])
      AS row (place, scope, account, target)
    """, name: "write_account_events")

  /// Erases accounts from events that earlier transactions wrote (R46), after their targets left
  /// them (``keepAccountEvents``). `$1` scopes, `$2` accounts.
  static let eraseAccounts = PostgresStatement(
    """
    WITH erased AS (
      DELETE FROM account_events
      USING unnest($1::bigint[], $2::text[]) AS gone (scope, account)
      WHERE account_events.scope = gone.scope AND account_events.account = gone.account
      RETURNING account_events.scope, account_events.account, account_events.position,
        account_events.target),
    steps AS (
      SELECT scope, target, position, array_agg(account) AS accounts
      FROM erased GROUP BY scope, target, position)
    UPDATE link_events SET
      from_account = CASE WHEN from_account = ANY (accounts) THEN NULL ELSE from_account END,
      is_from_erased = is_from_erased OR coalesce(from_account = ANY (accounts), false),
      to_account = CASE WHEN to_account = ANY (accounts) THEN NULL ELSE to_account END,
      is_to_erased = is_to_erased OR coalesce(to_account = ANY (accounts), false)
    FROM steps
    WHERE link_events.scope = steps.scope AND link_events.target = steps.target
      AND link_events.position = steps.position
    """, name: "erase_accounts")

  /// `$1` scopes, `$2` targets, `$3` claimers, `$4` moments, `$5` authors, `$6` traces.
  static let writeRefusedClaims = PostgresStatement(
    """
    INSERT INTO refused_claims (scope, target, claimer, at, author, trace)
    SELECT * FROM unnest(
      $1::bigint[], $2::bytea[], $3::text[], $4::bigint[], $5::bigint[], $6::bytea[])
    ON CONFLICT (scope, target, claimer) DO UPDATE SET
      at = excluded.at, author = excluded.author, trace = excluded.trace
    """, name: "write_refused_claims")

  /// `$1` scopes, `$2` targets.
  static let trimRefusedClaimsOfTargets = trimRefusedClaims(
    of: "target", type: "bytea", other: "claimer", name: "trim_refused_claims_of_targets")

  /// `$1` scopes, `$2` claimers.
  static let trimRefusedClaimsOfClaimers = trimRefusedClaims(
    of: "claimer", type: "text", other: "target", name: "trim_refused_claims_of_claimers")

  /// Keeps the latest refused claims of each value of a column (``RefusedClaim/limit``).
  ///
  /// - Parameter other: the column that decides between claims of one moment.
  private static func trimRefusedClaims(
    of column: String, type: String, other: String, name: String
  ) -> PostgresStatement {
    PostgresStatement(
      """
      DELETE FROM refused_claims
      USING (
        SELECT DISTINCT * FROM unnest($1::bigint[], $2::\(type)[]) AS key (scope, \(column))) AS key
      CROSS JOIN LATERAL (
        SELECT kept.at, kept.\(other) FROM refused_claims AS kept
        WHERE kept.scope = key.scope AND kept.\(column) = key.\(column)
        ORDER BY kept.at DESC, kept.\(other) DESC
        LIMIT 1 OFFSET \(RefusedClaim.limit)) AS last
      WHERE refused_claims.scope = key.scope AND refused_claims.\(column) = key.\(column)
        AND (refused_claims.at, refused_claims.\(other)) <= (last.at, last.\(other))
      """, name: name)
  }

  /// `$1` the moment before which they are too old.
  static let deleteOldRefusedClaims = PostgresStatement(
    "DELETE FROM refused_claims WHERE at < $1::bigint", name: "delete_old_refused_claims")

  /// `$1` scopes, `$2` accounts.
  static let eraseRefusedClaims = PostgresStatement(
    """
    DELETE FROM refused_claims USING unnest($1::bigint[], $2::text[]) AS gone (scope, account)
    WHERE refused_claims.scope = gone.scope AND refused_claims.claimer = gone.account
    """, name: "erase_refused_claims")

  /// The first array has the ordinals of the changes within the transaction.
  static let writeChanges = PostgresStatement(
    """
    INSERT INTO changes (sequence, committed_at, scope, kinds, account, chain, events)
    SELECT \(FeedNumbers.base) + ordinal, committed_at, scope, kinds, account, chain, events
    FROM unnest(
        $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
        $7::bytea[])
      AS row (ordinal, committed_at, scope, kinds, account, chain, events)
    """, name: "write_changes")

  static let all = [
    writeToken, deleteFacts, addFacts, writeFacts, writeHistories, moveVersions, deleteVersions,
    copyStandingVersions, addVersions, addTransactions, writeTransactions, deleteTransactions,
    writeDocuments, lockDocuments, deleteDocuments, addLinks, writeLinks,
    moveLinkEvents, keepAccountEvents, addAccounts, writeAccounts, moveAccountTargets, addTokens,
    writeTokens, deleteTokens, deleteGrants, writeGrants, writeNotifications, writeLinkEvents,
    writeAccountEvents, eraseAccounts, writeRefusedClaims, trimRefusedClaimsOfTargets,
    trimRefusedClaimsOfClaimers, deleteOldRefusedClaims, eraseRefusedClaims, writeChanges,
  ]
}
