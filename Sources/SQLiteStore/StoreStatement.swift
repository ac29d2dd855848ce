/// All SQL statements of the store, so that a test can check each query plan.
///
/// `scope_id`, `chain_id`, `account`, `header_id` and `document_id` are integer row ids. `kind` is
/// a `FactKind`, `kinds` are `ChangeKinds`, and `authority` is a `FactAuthority`, 0 for unsigned
/// facts. Ids of facts, chains, app transactions and their links, and tokens, are in the form of
/// ``PackedIdentifier``; those of other tables are text.
package enum StoreStatement: String, CaseIterable, Sendable {
  // MARK: Scopes, headers and documents

  case findScope = "SELECT id FROM scopes WHERE environment = ? AND bundle_id = ?"
  case insertScope = "INSERT INTO scopes (environment, bundle_id) VALUES (?, ?)"
  case findHeader = "SELECT id FROM headers WHERE bytes = ?"
  case headerBytes = "SELECT bytes FROM headers WHERE id = ?"
  case insertHeader = "INSERT INTO headers (bytes) VALUES (?)"

  case findDocument = "SELECT id FROM documents WHERE digest = ?"
  case documentBytes = "SELECT bytes, digest FROM documents WHERE id = ?"
  case insertDocument = "INSERT INTO documents (digest, bytes) VALUES (?, ?)"
  case deleteUnusedDocument = """
    DELETE FROM documents
    WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.document_id = documents.id)
    """

  // MARK: Facts

  case chainOfFact = "SELECT chain_id FROM facts WHERE scope_id = ? AND kind = ? AND identifier = ?"
  case standingFact = """
    SELECT chains.original_transaction_id, facts.authority, facts.signed_date, facts.is_revoked,
      facts.is_upgraded, facts.digest, documents.digest, facts.history,
      CASE WHEN (facts.history IS NULL OR facts.authority < 2) AND facts.kind <> 3
        THEN facts.payload END,
      facts.app_transaction_id, facts.app_account_token, facts.previous_chain, facts.supplement
    FROM facts LEFT JOIN chains ON chains.id = facts.chain_id
      LEFT JOIN documents ON documents.id = facts.document_id
    WHERE facts.scope_id = ? AND facts.kind = ? AND facts.identifier = ?
    """
  case insertFact = """
    INSERT INTO facts (
      chain_id, app_transaction_id, app_account_token, previous_chain, authority, signed_date,
      is_revoked, is_upgraded, digest, header_id, payload, signature, document_id, history,
      supplement, scope_id, kind, identifier)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case replaceFact = """
    UPDATE facts SET
      chain_id = ?, app_transaction_id = ?, app_account_token = ?, previous_chain = ?,
      authority = ?, signed_date = ?, is_revoked = ?, is_upgraded = ?, digest = ?, header_id = ?,
      payload = ?, signature = ?, document_id = ?, history = ?, supplement = ?
    WHERE scope_id = ? AND kind = ? AND identifier = ?
    """
  case signedFact = """
    SELECT facts.kind, facts.authority, facts.digest, facts.payload, facts.identifier,
      facts.app_transaction_id, facts.app_account_token, facts.previous_chain, facts.signed_date,
      facts.signature, facts.header_id, facts.document_id
    FROM facts
    WHERE facts.scope_id = ? AND facts.kind = ? AND facts.identifier = ?
    """
  case factByKey = """
    SELECT kind, authority, digest, payload, identifier, app_transaction_id, app_account_token,
      previous_chain, signed_date, supplement
    FROM facts
    WHERE scope_id = ? AND kind = ? AND identifier = ?
    """
  case factsOfChain = """
    SELECT kind, authority, digest, payload, identifier, app_transaction_id, app_account_token,
      previous_chain, signed_date, supplement
    FROM facts WHERE chain_id = ?
    """
  case factsOfAccountChains = """
    SELECT facts.kind, facts.authority, facts.digest, facts.payload, facts.identifier,
      facts.app_transaction_id, facts.app_account_token, facts.previous_chain, facts.signed_date,
      facts.supplement
    FROM chains CROSS JOIN facts ON facts.chain_id = chains.id
    WHERE chains.account = ?
    """
  case factsOfAccountAppTransactions = """
    SELECT facts.kind, facts.authority, facts.digest, facts.payload, facts.identifier,
      facts.app_transaction_id, facts.app_account_token, facts.previous_chain, facts.signed_date,
      facts.supplement
    FROM app_transactions CROSS JOIN facts
      ON facts.scope_id = app_transactions.scope_id
      AND facts.kind = 3
      AND facts.identifier = app_transactions.app_transaction_id
    WHERE app_transactions.account = ?
    """
  case signedFactsOfAccountChains = """
    SELECT facts.kind, facts.authority, facts.digest, facts.payload, facts.identifier,
      facts.app_transaction_id, facts.app_account_token, facts.previous_chain, facts.signed_date,
      facts.signature, facts.header_id, facts.document_id
    FROM chains CROSS JOIN facts ON facts.chain_id = chains.id
    WHERE chains.account = ?
    ORDER BY facts.kind, facts.identifier
    """
  case signedFactsOfAccountAppTransactions = """
    SELECT facts.kind, facts.authority, facts.digest, facts.payload, facts.identifier,
      facts.app_transaction_id, facts.app_account_token, facts.previous_chain, facts.signed_date,
      facts.signature, facts.header_id, facts.document_id
    FROM app_transactions CROSS JOIN facts
        ON facts.scope_id = app_transactions.scope_id
        AND facts.kind = 3
        AND facts.identifier = app_transactions.app_transaction_id
    WHERE app_transactions.account = ?
    ORDER BY facts.identifier
    """
  case bundlesOfChain = """
    SELECT bundle_id FROM scopes
    WHERE environment = ? AND EXISTS (
      SELECT 1 FROM chains
      WHERE chains.scope_id = scopes.id AND chains.original_transaction_id = ?
        AND (chains.is_former_chain = 1 OR EXISTS (
          SELECT 1 FROM facts
          WHERE facts.chain_id = chains.id AND facts.kind = 1 AND facts.authority > 0)))
    ORDER BY bundle_id
    """

  // MARK: Versions of facts

  case setHistory = """
    UPDATE facts SET history = ?, supplement = ?
    WHERE scope_id = ? AND kind = ? AND identifier = ?
    """
  case copyStandingVersion = """
    INSERT INTO versions (fact_id, statement, authority, header_id, payload, signature)
    SELECT id, ?, authority, header_id, ?, signature FROM facts
    WHERE scope_id = ? AND kind = ? AND identifier = ?
    """
  case insertVersion = """
    INSERT INTO versions (fact_id, statement, authority, header_id, payload, signature)
    SELECT id, ?, ?, ?, ?, ? FROM facts WHERE scope_id = ? AND kind = ? AND identifier = ?
    """
  case deleteVersion = """
    DELETE FROM versions
    WHERE fact_id = (SELECT id FROM facts WHERE scope_id = ? AND kind = ? AND identifier = ?)
      AND statement = ?
    """
  case historiesOfChain = """
    SELECT kind, identifier, history FROM facts WHERE chain_id = ? AND history IS NOT NULL
    """
  case versionsOfChain = """
    SELECT facts.kind, versions.authority, versions.statement, versions.payload, facts.identifier
    FROM facts CROSS JOIN versions ON versions.fact_id = facts.id
    WHERE facts.chain_id = ?
    """
  case historiesOfAccount = """
    SELECT facts.kind, facts.identifier, facts.history
    FROM chains CROSS JOIN facts ON facts.chain_id = chains.id
    WHERE chains.account = ? AND facts.history IS NOT NULL
    ORDER BY facts.kind, facts.identifier
    """
  case versionsOfAccount = """
    SELECT facts.kind, facts.identifier, versions.authority, versions.statement, versions.payload,
      versions.signature, versions.header_id
    FROM chains CROSS JOIN facts ON facts.chain_id = chains.id
      CROSS JOIN versions ON versions.fact_id = facts.id
    WHERE chains.account = ?
    """
  case chainRowsOfAccount = "SELECT id FROM chains WHERE account = ?"

  // MARK: Chains and hints

  case findChain = """
    SELECT id, scope_id, original_transaction_id, account, revision, updated_at, is_link_unsigned,
      is_detached, is_former_chain, standing
    FROM chains WHERE scope_id = ? AND original_transaction_id = ?
    """
  case chainByID = """
    SELECT id, scope_id, original_transaction_id, account, revision, updated_at, is_link_unsigned,
      is_detached, is_former_chain, standing
    FROM chains WHERE id = ?
    """
  case linkOfChain = """
    SELECT accounts.account_id, chains.is_link_unsigned, chains.is_detached,
      chains.is_former_chain, chains.standing, chains.revision
    FROM chains LEFT JOIN accounts ON accounts.id = chains.account
    WHERE chains.scope_id = ? AND chains.original_transaction_id = ?
    """
  case insertChain = """
    INSERT INTO chains (
      scope_id, original_transaction_id, account, is_link_unsigned, is_detached, is_former_chain,
      standing)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    """
  case linkChain = """
    UPDATE chains
    SET account = ?, is_link_unsigned = ?, is_detached = ?, is_former_chain = ?, standing = ?
    WHERE id = ?
    """
  case setChainRevision = "UPDATE chains SET revision = ?, updated_at = ? WHERE id = ?"
  case hintsOfChain = """
    SELECT facts.kind, facts.identifier, facts.signed_date, facts.digest, facts.app_transaction_id,
      facts.app_account_token, facts.previous_chain
    FROM chains CROSS JOIN facts ON facts.chain_id = chains.id
    WHERE chains.scope_id = ? AND chains.original_transaction_id = ? AND facts.authority > 0
    ORDER BY facts.signed_date DESC, facts.digest DESC
    """
  // Indexes have parts of a token and of an app transaction id. The whole is compared too.
  // With its plus, SQLite does not take the part for a constant, and uses the index.
  case accountOfChainByToken = """
    SELECT MIN(chains.original_transaction_id), chains.account
    FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
    WHERE facts.scope_id = ? AND substr(facts.app_account_token, 1, 5) = substr(?, 1, 5)
      AND +facts.app_account_token = ? AND facts.app_account_token IS NOT NULL
      AND chains.account IS NOT NULL
    """
  case accountOfChainByAppTransaction = """
    SELECT MIN(chains.original_transaction_id), chains.account
    FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
    WHERE facts.scope_id = ?
      AND substr(facts.app_transaction_id, -5) = substr(?, -5)
      AND +facts.app_transaction_id = ? AND facts.app_transaction_id IS NOT NULL
      AND facts.authority > 0 AND chains.account IS NOT NULL AND chains.is_link_unsigned = 0
      AND chains.standing NOT IN (2, 4)
    """
  case unlinkedChainsByToken = """
    SELECT DISTINCT chains.original_transaction_id
    FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
    WHERE facts.scope_id = ? AND substr(facts.app_account_token, 1, 5) = substr(?, 1, 5)
      AND +facts.app_account_token = ? AND facts.app_account_token IS NOT NULL
      AND chains.account IS NULL
    ORDER BY chains.original_transaction_id
    """
  case unlinkedChainsByAppTransaction = """
    SELECT DISTINCT chains.original_transaction_id
    FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
    WHERE facts.scope_id = ?
      AND substr(facts.app_transaction_id, -5) = substr(?, -5)
      AND +facts.app_transaction_id = ? AND facts.app_transaction_id IS NOT NULL
      AND chains.account IS NULL
    ORDER BY chains.original_transaction_id
    """
  case unlinkedChainsByPreviousChain = """
    SELECT DISTINCT chains.original_transaction_id
    FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
    WHERE facts.scope_id = ? AND facts.previous_chain = ? AND chains.account IS NULL
    ORDER BY chains.original_transaction_id
    """
  case unlinkedChainPage = """
    SELECT original_transaction_id, revision, updated_at FROM chains
    WHERE scope_id = ? AND original_transaction_id > ? AND account IS NULL
    ORDER BY original_transaction_id LIMIT ?
    """

  // MARK: Accounts, tokens and app transactions

  case findAccount = """
    SELECT id, scope_id, account_id, revision, updated_at, merged_into, is_deleted, claims,
      claims_since, chains
    FROM accounts WHERE scope_id = ? AND account_id = ?
    """
  case accountByID = """
    SELECT id, scope_id, account_id, revision, updated_at, merged_into, is_deleted, claims,
      claims_since, chains
    FROM accounts WHERE id = ?
    """
  case insertAccount = """
    INSERT INTO accounts
      (scope_id, account_id, updated_at, merged_into, is_deleted, claims, claims_since, chains)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    """
  case setAccountRevision = "UPDATE accounts SET revision = ?, updated_at = ? WHERE id = ?"
  case setAccountStanding = """
    UPDATE accounts
    SET merged_into = ?, is_deleted = ?, claims = ?, claims_since = ?, chains = ?
    WHERE id = ?
    """
  case deleteTombstones = """
    DELETE FROM accounts INDEXED BY accounts_deleted WHERE is_deleted = 1 AND revision <= ?
    """
  case mergedAccounts = """
    SELECT id, account_id FROM accounts WHERE merged_into = ? ORDER BY account_id
    """
  // The index is named because the planner does not know how few accounts are listed.
  case accountPage = """
    SELECT account_id, revision, updated_at,
      (SELECT COUNT(*) FROM chains WHERE chains.account = accounts.id)
    FROM accounts INDEXED BY accounts_listed
    WHERE scope_id = ? AND account_id > ? AND merged_into IS NULL AND is_deleted = 0
    ORDER BY account_id LIMIT ?
    """
  // 2 is AccountTokenState.ambiguous.
  case findToken = """
    SELECT account, state = 2 FROM account_tokens WHERE scope_id = ? AND token = ?
    """
  case token = """
    SELECT account_tokens.token, accounts.account_id, account_tokens.state, account_tokens.author,
      account_tokens.note, account_tokens.since, account_tokens.on_behalf_of
    FROM account_tokens LEFT JOIN accounts ON accounts.id = account_tokens.account
    WHERE account_tokens.scope_id = ? AND account_tokens.token = ?
    """
  case tokensOfAccount = """
    SELECT account_tokens.token, accounts.account_id, account_tokens.state, account_tokens.author,
      account_tokens.note, account_tokens.since, account_tokens.on_behalf_of
    FROM account_tokens CROSS JOIN accounts ON accounts.id = account_tokens.account
    WHERE account_tokens.account = ? AND account_tokens.token > ?
    ORDER BY account_tokens.token LIMIT ?
    """
  case ambiguousTokens = """
    SELECT account_tokens.token, accounts.account_id, account_tokens.state, account_tokens.author,
      account_tokens.note, account_tokens.since, account_tokens.on_behalf_of
    FROM account_tokens INDEXED BY account_tokens_ambiguous
      LEFT JOIN accounts ON accounts.id = account_tokens.account
    WHERE account_tokens.scope_id = ? AND account_tokens.token > ? AND account_tokens.state = 2
    ORDER BY account_tokens.token LIMIT ?
    """
  case setToken = """
    INSERT INTO account_tokens (
      scope_id, token, account, state, author, note, since, on_behalf_of)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope_id, token) DO UPDATE SET
      account = excluded.account, state = excluded.state, author = excluded.author,
      note = excluded.note, since = excluded.since, on_behalf_of = excluded.on_behalf_of
    """
  case deleteToken = "DELETE FROM account_tokens WHERE scope_id = ? AND token = ?"
  case chainsOfAccount = """
    SELECT original_transaction_id FROM chains WHERE account = ? ORDER BY original_transaction_id
    """
  case appTransactionsOfAccount = """
    SELECT app_transaction_id FROM app_transactions WHERE account = ? ORDER BY app_transaction_id
    """
  // 2 is LinkStanding.contested, 4 .disputed.
  case accountOfAppTransaction = """
    SELECT account, standing IN (2, 4) FROM app_transactions
    WHERE scope_id = ? AND app_transaction_id = ?
    """
  case linkOfAppTransaction = """
    SELECT accounts.account_id, app_transactions.is_link_unsigned, app_transactions.is_detached,
      app_transactions.standing
    FROM app_transactions LEFT JOIN accounts ON accounts.id = app_transactions.account
    WHERE app_transactions.scope_id = ? AND app_transactions.app_transaction_id = ?
    """
  case setAppTransaction = """
    INSERT INTO app_transactions
      (scope_id, app_transaction_id, account, is_link_unsigned, is_detached, standing)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope_id, app_transaction_id) DO UPDATE SET
      account = excluded.account, is_link_unsigned = excluded.is_link_unsigned,
      is_detached = excluded.is_detached, standing = excluded.standing
    """

  // MARK: Grants

  case findGrant = """
    SELECT grants.grant_id, accounts.account_id, grants.entitlement_id, grants.starts,
      grants.expires, grants.reason, grants.author, grants.created_at, grants.withdrawn_at,
      grants.withdrawn_by, grants.withdrawal_reason, grants.on_behalf_of,
      grants.withdrawn_on_behalf_of
    FROM grants CROSS JOIN accounts ON accounts.id = grants.account
    WHERE grants.scope_id = ? AND grants.grant_id = ?
    """
  case grantsOfAccount = """
    SELECT grants.grant_id, accounts.account_id, grants.entitlement_id, grants.starts,
      grants.expires, grants.reason, grants.author, grants.created_at, grants.withdrawn_at,
      grants.withdrawn_by, grants.withdrawal_reason, grants.on_behalf_of,
      grants.withdrawn_on_behalf_of
    FROM grants CROSS JOIN accounts ON accounts.id = grants.account
    WHERE grants.account = ? ORDER BY grants.created_at, grants.grant_id
    """
  case setGrant = """
    INSERT INTO grants
      (scope_id, grant_id, account, entitlement_id, starts, expires, reason, author, created_at,
       withdrawn_at, withdrawn_by, withdrawal_reason, on_behalf_of, withdrawn_on_behalf_of)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope_id, grant_id) DO UPDATE SET
      account = excluded.account, withdrawn_at = excluded.withdrawn_at,
      withdrawn_by = excluded.withdrawn_by, withdrawal_reason = excluded.withdrawal_reason,
      withdrawn_on_behalf_of = excluded.withdrawn_on_behalf_of
    """
  case deleteGrant = "DELETE FROM grants WHERE scope_id = ? AND grant_id = ?"

  // MARK: History

  case insertLinkEvent = """
    INSERT INTO link_history
      (chain_id, scope_id, app_transaction_id, from_account, to_account, reason, at, author, note,
       is_from_erased, is_to_erased, on_behalf_of, trace)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case refusedClaim = """
    SELECT at FROM refused_claims
    WHERE scope_id = ? AND is_chain = ? AND identifier = ? AND claimer = ?
    """
  case setRefusedClaim = """
    INSERT OR REPLACE INTO refused_claims
      (scope_id, is_chain, identifier, claimer, at, author, trace)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    """
  // The 21st and all before it.
  case trimRefusedClaimsOfTarget = """
    DELETE FROM refused_claims INDEXED BY refused_claims_by_target
    WHERE scope_id = ? AND is_chain = ? AND identifier = ? AND (at, claimer) <= (
      SELECT at, claimer FROM refused_claims INDEXED BY refused_claims_by_target
      WHERE scope_id = ? AND is_chain = ? AND identifier = ?
      ORDER BY at DESC, claimer DESC LIMIT 1 OFFSET ?)
    """
  case trimRefusedClaimsOfClaimer = """
    DELETE FROM refused_claims INDEXED BY refused_claims_by_claimer
    WHERE scope_id = ? AND claimer = ? AND (at, is_chain, identifier) <= (
      SELECT at, is_chain, identifier FROM refused_claims INDEXED BY refused_claims_by_claimer
      WHERE scope_id = ? AND claimer = ?
      ORDER BY at DESC, is_chain DESC, identifier DESC LIMIT 1 OFFSET ?)
    """
  case deleteOldRefusedClaims = "DELETE FROM refused_claims WHERE at < ?"
  case eraseRefusedClaims = "DELETE FROM refused_claims WHERE scope_id = ? AND claimer = ?"
  case refusedClaimsOfTarget = """
    SELECT is_chain, identifier, claimer, at, headers.bytes, trace
    FROM refused_claims LEFT JOIN headers ON headers.id = refused_claims.author
    WHERE scope_id = ? AND is_chain = ? AND identifier = ?
    """
  case refusedClaimsOfClaimer = """
    SELECT is_chain, identifier, claimer, at, headers.bytes, trace
    FROM refused_claims INDEXED BY refused_claims_by_claimer
      LEFT JOIN headers ON headers.id = refused_claims.author
    WHERE scope_id = ? AND claimer = ?
    """
  case historyOfChain = """
    SELECT former.account_id, latter.account_id, link_history.reason, link_history.at,
      authors.bytes, link_history.note, link_history.is_from_erased,
      link_history.is_to_erased, link_history.on_behalf_of, link_history.trace
    FROM chains CROSS JOIN link_history ON link_history.chain_id = chains.id
      LEFT JOIN accounts AS former ON former.id = link_history.from_account
      LEFT JOIN accounts AS latter ON latter.id = link_history.to_account
      LEFT JOIN headers AS authors ON authors.id = link_history.author
    WHERE chains.scope_id = ? AND chains.original_transaction_id = ?
    ORDER BY link_history.id
    """
  case historyOfAppTransaction = """
    SELECT former.account_id, latter.account_id, link_history.reason, link_history.at,
      authors.bytes, link_history.note, link_history.is_from_erased,
      link_history.is_to_erased, link_history.on_behalf_of, link_history.trace
    FROM link_history
      LEFT JOIN accounts AS former ON former.id = link_history.from_account
      LEFT JOIN accounts AS latter ON latter.id = link_history.to_account
      LEFT JOIN headers AS authors ON authors.id = link_history.author
    WHERE link_history.scope_id = ?
      AND substr(link_history.app_transaction_id, -5) = substr(?, -5)
      AND +link_history.app_transaction_id = ? AND link_history.app_transaction_id IS NOT NULL
    ORDER BY link_history.id
    """
  case historyOfAccount = """
    SELECT former.account_id, latter.account_id, link_history.reason, link_history.at,
      authors.bytes, link_history.note, link_history.is_from_erased,
      link_history.is_to_erased, link_history.on_behalf_of, link_history.trace, link_history.id,
      chains.original_transaction_id, link_history.app_transaction_id
    FROM link_history
      LEFT JOIN chains ON chains.id = link_history.chain_id
      LEFT JOIN accounts AS former ON former.id = link_history.from_account
      LEFT JOIN accounts AS latter ON latter.id = link_history.to_account
      LEFT JOIN headers AS authors ON authors.id = link_history.author
    WHERE link_history.id IN (
      SELECT id FROM link_history WHERE from_account = ?
      UNION SELECT id FROM link_history WHERE to_account = ?)
    """
  case chainLinksOfAccount = """
    SELECT chains.original_transaction_id, chains.is_link_unsigned, link_history.at,
      link_history.reason, chains.standing
    FROM chains CROSS JOIN link_history ON link_history.id =
      (SELECT MAX(latest.id) FROM link_history AS latest WHERE latest.chain_id = chains.id)
    WHERE chains.account = ? ORDER BY chains.original_transaction_id
    """
  case appTransactionLinksOfAccount = """
    SELECT app_transactions.app_transaction_id, app_transactions.is_link_unsigned, link_history.at,
      link_history.reason, app_transactions.standing
    FROM app_transactions CROSS JOIN link_history ON link_history.id =
      (SELECT MAX(latest.id) FROM link_history AS latest
       WHERE latest.scope_id = app_transactions.scope_id
         AND substr(latest.app_transaction_id, -5) = substr(app_transactions.app_transaction_id, -5)
         AND +latest.app_transaction_id = app_transactions.app_transaction_id
         AND latest.app_transaction_id IS NOT NULL)
    WHERE app_transactions.account = ? ORDER BY app_transactions.app_transaction_id
    """
  case eraseFormerAccount = """
    UPDATE link_history SET from_account = NULL, is_from_erased = 1 WHERE from_account = ?
    """
  case eraseLatterAccount = """
    UPDATE link_history SET to_account = NULL, is_to_erased = 1 WHERE to_account = ?
    """

  // MARK: Feed

  case insertChange = """
    INSERT INTO changes (sequence, scope_id, account, chain_id, kinds, committed_at)
    VALUES (?, ?, ?, ?, ?, ?)
    """
  case insertChangeEvent = """
    INSERT INTO change_events
      (sequence, position, kind, notification_uuid, original_transaction_id, transaction_id,
       deadline, refetch_reason, detail)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case changePage = """
    SELECT changes.sequence, changes.kinds, changes.committed_at, accounts.account_id,
      chains.original_transaction_id, scopes.bundle_id, scopes.environment
    FROM changes CROSS JOIN scopes ON scopes.id = changes.scope_id
      LEFT JOIN accounts ON accounts.id = changes.account
      LEFT JOIN chains ON chains.id = changes.chain_id
    WHERE changes.sequence > ?
    ORDER BY changes.sequence LIMIT ?
    """
  case eventsOfChange = """
    SELECT kind, notification_uuid, original_transaction_id, transaction_id, deadline,
      refetch_reason, detail
    FROM change_events WHERE sequence = ? ORDER BY position
    """
  case changedCustomers = """
    SELECT changes.sequence, accounts.account_id, chains.original_transaction_id, scopes.bundle_id,
      scopes.environment
    FROM changes CROSS JOIN scopes ON scopes.id = changes.scope_id
      LEFT JOIN accounts ON accounts.id = changes.account
      LEFT JOIN chains ON chains.id = changes.chain_id
    WHERE changes.sequence > ?
    ORDER BY changes.sequence LIMIT ?
    """
  case feedEnd = """
    SELECT MAX(COALESCE((SELECT MAX(sequence) FROM changes), 0), trimmed_through)
    FROM feed WHERE id = 1
    """
  case trimmedThrough = "SELECT trimmed_through FROM feed WHERE id = 1"
  case oldestChanges = """
    SELECT sequence, committed_at FROM changes WHERE sequence > ? ORDER BY sequence LIMIT ?
    """
  case nextChange = """
    SELECT committed_at FROM changes WHERE sequence > ? AND committed_at <= ?
    ORDER BY sequence LIMIT 1
    """
  case commitTimeOfChange = "SELECT committed_at FROM changes WHERE sequence = ?"
  case deleteEvents = "DELETE FROM change_events WHERE sequence <= ?"
  case deleteChanges = "DELETE FROM changes WHERE sequence <= ?"
  case trimmingClock = """
    SELECT trimming_time, clock_stepped_at, clock_step FROM feed WHERE id = 1
    """
  case setTrimmingClock = """
    UPDATE feed SET trimming_time = ?, clock_stepped_at = ?, clock_step = ? WHERE id = 1
    """
  case lastCommitTime = """
    SELECT committed_at FROM changes WHERE sequence = (SELECT MAX(sequence) FROM changes)
    """
  case setTrimmedThrough = "UPDATE feed SET trimmed_through = ? WHERE id = 1"

  // MARK: The audit trail

  case auditHead = "SELECT position, hash FROM audit_heads WHERE chain = ?"
  case setAuditHead = """
    INSERT INTO audit_heads
      (chain, position, hash, sealed_position, removed_position, removed_hash)
    VALUES (?, ?, ?, 0, 0, '')
    ON CONFLICT (chain) DO UPDATE SET position = excluded.position, hash = excluded.hash
    """
  case insertAuditEntry = """
    INSERT INTO audit_entries (
      chain, position, node, at, peer, method, bundle_id, environment, account, former_account,
      author, reason, subject, outcome, previous, hash, on_behalf_of, proof, token_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case auditPseudonym = """
    SELECT pseudonym FROM audit_accounts WHERE scope_id = ? AND account = ?
    """
  case insertAuditPseudonym = """
    INSERT INTO audit_accounts (scope_id, account, pseudonym) VALUES (?, ?, ?)
    """
  case deleteAuditPseudonym = "DELETE FROM audit_accounts WHERE scope_id = ? AND account = ?"
  case auditEntriesByChain = """
    SELECT chain, position, node, at, peer, method, bundle_id, environment, account,
      former_account, author, reason, subject, outcome, previous, hash,
      on_behalf_of, proof, token_id
    FROM audit_entries WHERE (chain, position) > (?, ?)
    ORDER BY chain, position LIMIT ?
    """
  /// Each filter is twice a value, or NULL. The last one is a list of pseudonyms in one text.
  case auditEntriesByTime = """
    SELECT chain, position, node, at, peer, method, bundle_id, environment, account,
      former_account, author, reason, subject, outcome, previous, hash,
      on_behalf_of, proof, token_id
    FROM audit_entries
    WHERE (at, chain, position) > (?, ?, ?) AND at < ?
      AND (? IS NULL OR (bundle_id = ? AND environment = ?))
      AND (? IS NULL OR method = ?) AND (? IS NULL OR author = ?)
      AND (? IS NULL OR on_behalf_of = ?)
      AND (? IS NULL OR (account <> '' AND instr(?, account) > 0)
        OR (former_account <> '' AND instr(?, former_account) > 0))
    ORDER BY at, chain, position LIMIT ?
    """
  case oldestAuditEntries = """
    SELECT chain FROM audit_entries WHERE at < ? ORDER BY at, chain, position LIMIT ?
    """
  /// The last position that may be removed from a chain: before the first entry that is not old, and
  /// at most a number of entries.
  case oldAuditPosition = """
    SELECT MIN(
      (SELECT MIN(position) FROM audit_entries WHERE chain = ?) + ? - 1,
      COALESCE((SELECT MIN(position) - 1 FROM audit_entries WHERE chain = ? AND at >= ?),
        (SELECT MAX(position) FROM audit_entries WHERE chain = ?)))
    FROM audit_heads WHERE chain = ?
    """
  case auditHash = "SELECT hash FROM audit_entries WHERE chain = ? AND position = ?"
  case removeAuditEntries = "DELETE FROM audit_entries WHERE chain = ? AND position <= ?"
  case setAuditRemoval = """
    UPDATE audit_heads SET removed_position = ?, removed_hash = ? WHERE chain = ?
    """
  case unsealedAuditChains = """
    SELECT chain FROM audit_heads WHERE position <> sealed_position AND chain > ''
    ORDER BY chain LIMIT ?
    """
  case sealedAuditChain = """
    SELECT position, hash, removed_position, removed_hash FROM audit_heads WHERE chain = ?
    """
  case setAuditSealed = "UPDATE audit_heads SET sealed_position = position WHERE chain = ?"
  case lastAuditSeal = """
    SELECT number, hash FROM audit_seals WHERE number = (SELECT MAX(number) FROM audit_seals)
    """
  case insertAuditSeal = """
    INSERT INTO audit_seals (number, at, node, previous, hash) VALUES (?, ?, ?, ?, ?)
    """
  case insertAuditSealChain = """
    INSERT INTO audit_seal_chains
      (number, chain, position, hash, removed_position, removed_hash)
    VALUES (?, ?, ?, ?, ?, ?)
    """
  case auditSealPage = """
    SELECT number, at, node, previous, hash FROM audit_seals WHERE number > ?
    ORDER BY number LIMIT ?
    """
  case auditChainsOfSeal = """
    SELECT chain, position, hash, removed_position, removed_hash FROM audit_seal_chains
    WHERE number = ? ORDER BY chain
    """

  // MARK: Notifications

  case findNotification = "SELECT 1 FROM notifications WHERE uuid = ?"
  case insertNotification = """
    INSERT INTO notifications
      (uuid, scope_id, type, subtype, status, signed_date, received_at, digest, header_id,
       payload, signature, chain_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case signedNotification = """
    SELECT notifications.uuid, scopes.bundle_id, scopes.environment, notifications.type,
      notifications.subtype, notifications.status, notifications.signed_date,
      notifications.digest, notifications.received_at, notifications.payload,
      notifications.signature, notifications.header_id
    FROM notifications
      LEFT JOIN scopes ON scopes.id = notifications.scope_id
    WHERE notifications.uuid = ?
    """
  case notificationsOfAccount = """
    SELECT notifications.uuid, scopes.bundle_id, scopes.environment, notifications.type,
      notifications.subtype, notifications.status, notifications.signed_date,
      notifications.digest, notifications.received_at, notifications.payload,
      notifications.signature, notifications.header_id
    FROM chains CROSS JOIN notifications ON notifications.chain_id = chains.id
      LEFT JOIN scopes ON scopes.id = notifications.scope_id
    WHERE chains.account = ?
    ORDER BY notifications.received_at, notifications.uuid
    """
  case notificationRecordsOfAccount = """
    SELECT notifications.uuid, scopes.bundle_id, scopes.environment, notifications.type,
      notifications.subtype, notifications.status, notifications.signed_date,
      notifications.digest, notifications.received_at
    FROM chains CROSS JOIN notifications ON notifications.chain_id = chains.id
      LEFT JOIN scopes ON scopes.id = notifications.scope_id
    WHERE chains.account = ?
    ORDER BY notifications.received_at, notifications.uuid
    """
  /// Newest first. The columns before the payload, which is long: those after it cost a read of it.
  case notificationPage = """
    SELECT notifications.uuid, scopes.bundle_id, scopes.environment, notifications.type,
      notifications.subtype, notifications.status, notifications.signed_date,
      notifications.digest, notifications.received_at, notifications.id
    FROM notifications
      LEFT JOIN scopes ON scopes.id = notifications.scope_id
    WHERE notifications.id < ?
    ORDER BY notifications.id DESC LIMIT ?
    """
  case chainOfNotification = """
    SELECT chains.original_transaction_id
    FROM notifications CROSS JOIN chains ON chains.id = notifications.chain_id
    WHERE notifications.id = ?
    """

  // MARK: Jobs of the App Store Server API

  case jobByKey = """
    SELECT app_store_jobs.id, scopes.bundle_id, scopes.environment, app_store_jobs.kind,
      app_store_jobs.chain, app_store_jobs.state, app_store_jobs.opening, app_store_jobs.reasons,
      app_store_jobs.opened_at, app_store_jobs.changed_at, app_store_jobs.due_at,
      app_store_jobs.lease, app_store_jobs.failures, app_store_jobs.unexplained,
      app_store_jobs.last_failure, app_store_jobs.since, app_store_jobs.complete_until,
      app_store_jobs.cursor, app_store_jobs.calls, app_store_jobs.payloads, app_store_jobs.added,
      app_store_jobs.refused
    FROM app_store_jobs CROSS JOIN scopes ON scopes.id = app_store_jobs.scope_id
    WHERE app_store_jobs.scope_id = ? AND app_store_jobs.kind = ? AND app_store_jobs.chain = ?
    """
  case jobByID = """
    SELECT app_store_jobs.id, scopes.bundle_id, scopes.environment, app_store_jobs.kind,
      app_store_jobs.chain, app_store_jobs.state, app_store_jobs.opening, app_store_jobs.reasons,
      app_store_jobs.opened_at, app_store_jobs.changed_at, app_store_jobs.due_at,
      app_store_jobs.lease, app_store_jobs.failures, app_store_jobs.unexplained,
      app_store_jobs.last_failure, app_store_jobs.since, app_store_jobs.complete_until,
      app_store_jobs.cursor, app_store_jobs.calls, app_store_jobs.payloads, app_store_jobs.added,
      app_store_jobs.refused
    FROM app_store_jobs CROSS JOIN scopes ON scopes.id = app_store_jobs.scope_id
    WHERE app_store_jobs.id = ?
    """
  case jobPage = """
    SELECT app_store_jobs.id, scopes.bundle_id, scopes.environment, app_store_jobs.kind,
      app_store_jobs.chain, app_store_jobs.state, app_store_jobs.opening, app_store_jobs.reasons,
      app_store_jobs.opened_at, app_store_jobs.changed_at, app_store_jobs.due_at,
      app_store_jobs.lease, app_store_jobs.failures, app_store_jobs.unexplained,
      app_store_jobs.last_failure, app_store_jobs.since, app_store_jobs.complete_until,
      app_store_jobs.cursor, app_store_jobs.calls, app_store_jobs.payloads, app_store_jobs.added,
      app_store_jobs.refused
    FROM app_store_jobs CROSS JOIN scopes ON scopes.id = app_store_jobs.scope_id
    WHERE app_store_jobs.id > ?
    ORDER BY app_store_jobs.id LIMIT ?
    """
  case jobPageByState = """
    SELECT app_store_jobs.id, scopes.bundle_id, scopes.environment, app_store_jobs.kind,
      app_store_jobs.chain, app_store_jobs.state, app_store_jobs.opening, app_store_jobs.reasons,
      app_store_jobs.opened_at, app_store_jobs.changed_at, app_store_jobs.due_at,
      app_store_jobs.lease, app_store_jobs.failures, app_store_jobs.unexplained,
      app_store_jobs.last_failure, app_store_jobs.since, app_store_jobs.complete_until,
      app_store_jobs.cursor, app_store_jobs.calls, app_store_jobs.payloads, app_store_jobs.added,
      app_store_jobs.refused
    FROM app_store_jobs INDEXED BY app_store_jobs_by_state
      CROSS JOIN scopes ON scopes.id = app_store_jobs.scope_id
    WHERE app_store_jobs.state = ? AND app_store_jobs.id > ?
    ORDER BY app_store_jobs.id LIMIT ?
    """
  // 1 is AppStoreJobKind.refetch.
  case jobsOfChain = """
    SELECT app_store_jobs.id, scopes.bundle_id, scopes.environment, app_store_jobs.kind,
      app_store_jobs.chain, app_store_jobs.state, app_store_jobs.opening, app_store_jobs.reasons,
      app_store_jobs.opened_at, app_store_jobs.changed_at, app_store_jobs.due_at,
      app_store_jobs.lease, app_store_jobs.failures, app_store_jobs.unexplained,
      app_store_jobs.last_failure, app_store_jobs.since, app_store_jobs.complete_until,
      app_store_jobs.cursor, app_store_jobs.calls, app_store_jobs.payloads, app_store_jobs.added,
      app_store_jobs.refused
    FROM scopes CROSS JOIN app_store_jobs ON app_store_jobs.scope_id = scopes.id
      AND app_store_jobs.kind = 1 AND app_store_jobs.chain = ?
    WHERE scopes.environment = ?
    """
  // The indexes are named because the planner does not know how few jobs are open. 3 is
  // AppStoreJobKind.consumption.
  case dueConsumptionJobs = """
    SELECT id, due_at FROM app_store_jobs INDEXED BY app_store_jobs_due_consumption
    WHERE scope_id = ? AND due_at <= ? AND state = 1 AND kind = 3
    ORDER BY due_at, id LIMIT ?
    """
  case dueJobs = """
    SELECT id, due_at FROM app_store_jobs INDEXED BY app_store_jobs_due
    WHERE scope_id = ? AND due_at <= ? AND state = 1
    ORDER BY due_at, id LIMIT ?
    """
  /// The lease stays, so that the next one counts a failure.
  case endJobLeases = """
    UPDATE app_store_jobs INDEXED BY app_store_jobs_due SET due_at = ?
    WHERE scope_id = ? AND due_at > ? AND state = 1 AND lease IS NOT NULL
    """
  /// The first row of the index: all due moments are later than this number.
  case earliestDueJob = """
    SELECT MIN(due_at) FROM app_store_jobs INDEXED BY app_store_jobs_due
    WHERE scope_id = ? AND state = 1 AND due_at > -9223372036854775807
    """
  /// Counts up to a limit. The last parameter is the limit less one.
  case jobCount = """
    SELECT COUNT(*) FROM app_store_jobs INDEXED BY app_store_jobs_by_state
    WHERE state = ? AND id <= COALESCE(
      (SELECT id FROM app_store_jobs INDEXED BY app_store_jobs_by_state
        WHERE state = ? ORDER BY id LIMIT 1 OFFSET ?), 9223372036854775807)
    """
  case insertJob = """
    INSERT INTO app_store_jobs (
      scope_id, kind, chain, state, opening, reasons, opened_at, changed_at, due_at, lease,
      failures, unexplained, last_failure, since, complete_until, cursor, calls, payloads, added,
      refused)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case setJob = """
    UPDATE app_store_jobs SET
      state = ?, opening = ?, reasons = ?, opened_at = ?, changed_at = ?, due_at = ?, lease = ?,
      failures = ?, unexplained = ?, last_failure = ?, since = ?, complete_until = ?, cursor = ?,
      calls = ?, payloads = ?, added = ?, refused = ?
    WHERE id = ?
    """
  /// A lease that has ended without a report is a failure.
  case leaseJob = """
    UPDATE app_store_jobs SET
      failures = failures + (lease IS NOT NULL),
      last_failure = iif(lease IS NULL, last_failure, 'the lease ended without a report'),
      lease = ?, due_at = ?
    WHERE id = ?
    """

  // MARK: Consumption

  case consumptionByKey = """
    SELECT consumption_requests.id, scopes.bundle_id, scopes.environment,
      consumption_requests.transaction_id, consumption_requests.percentage,
      consumption_requests.delivery_status, consumption_requests.state,
      consumption_requests.cause, consumption_requests.notification_uuid,
      consumption_requests.reason, consumption_requests.requested_at,
      consumption_requests.detail, consumption_requests.attempts, consumption_requests.sending,
      consumption_requests.opened_at, consumption_requests.changed_at
    FROM consumption_requests CROSS JOIN scopes ON scopes.id = consumption_requests.scope_id
    WHERE consumption_requests.scope_id = ? AND consumption_requests.transaction_id = ?
    """
  case consumptionPage = """
    SELECT consumption_requests.id, scopes.bundle_id, scopes.environment,
      consumption_requests.transaction_id, consumption_requests.percentage,
      consumption_requests.delivery_status, consumption_requests.state,
      consumption_requests.cause, consumption_requests.notification_uuid,
      consumption_requests.reason, consumption_requests.requested_at,
      consumption_requests.detail, consumption_requests.attempts, consumption_requests.sending,
      consumption_requests.opened_at, consumption_requests.changed_at
    FROM consumption_requests INDEXED BY consumption_requests_asked
      CROSS JOIN scopes ON scopes.id = consumption_requests.scope_id
    WHERE consumption_requests.id > ? AND consumption_requests.state IS NOT NULL
    ORDER BY consumption_requests.id LIMIT ?
    """
  case consumptionPageByState = """
    SELECT consumption_requests.id, scopes.bundle_id, scopes.environment,
      consumption_requests.transaction_id, consumption_requests.percentage,
      consumption_requests.delivery_status, consumption_requests.state,
      consumption_requests.cause, consumption_requests.notification_uuid,
      consumption_requests.reason, consumption_requests.requested_at,
      consumption_requests.detail, consumption_requests.attempts, consumption_requests.sending,
      consumption_requests.opened_at, consumption_requests.changed_at
    FROM consumption_requests INDEXED BY consumption_requests_by_state
      CROSS JOIN scopes ON scopes.id = consumption_requests.scope_id
    WHERE consumption_requests.state = ? AND consumption_requests.id > ?
    ORDER BY consumption_requests.id LIMIT ?
    """
  /// Counts up to a limit, and those that were asked for at the same moment. The parameters are the
  /// scope, twice, and the limit less one.
  case openConsumptionCount = """
    SELECT COUNT(*) FROM consumption_requests INDEXED BY consumption_requests_open
    WHERE scope_id = ? AND state = 1 AND requested_at <= COALESCE(
      (SELECT requested_at FROM consumption_requests INDEXED BY consumption_requests_open
        WHERE scope_id = ? AND state = 1 AND requested_at > -9223372036854775807
        ORDER BY requested_at LIMIT 1 OFFSET ?), 9223372036854775807)
    """
  case earliestConsumption = """
    SELECT MIN(requested_at) FROM consumption_requests INDEXED BY consumption_requests_open
    WHERE scope_id = ? AND state = 1 AND requested_at > -9223372036854775807
    """
  case insertConsumption = """
    INSERT INTO consumption_requests (
      scope_id, transaction_id, percentage, delivery_status, state, cause, notification_uuid,
      reason, requested_at, detail, attempts, sending, opened_at, changed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case setConsumption = """
    UPDATE consumption_requests SET
      percentage = ?, delivery_status = ?, state = ?, cause = ?, notification_uuid = ?,
      reason = ?, requested_at = ?, detail = ?, attempts = ?, sending = ?, opened_at = ?,
      changed_at = ?
    WHERE id = ?
    """
  case consentOfAccount = """
    SELECT is_given, at, author, on_behalf_of, note FROM consumption_consents
    WHERE account_id = ?
    """
  case setConsent = """
    INSERT OR REPLACE INTO consumption_consents (
      account_id, is_given, at, author, on_behalf_of, note)
    VALUES (?, ?, ?, ?, ?, ?)
    """
  case deleteConsent = "DELETE FROM consumption_consents WHERE account_id = ?"
  // MARK: Imports of accounts

  case importByName = """
    SELECT id, name, bundle_id, author, began_at FROM imports WHERE name = ?
    """
  case importPage = """
    SELECT id, name, bundle_id, author, began_at FROM imports WHERE id > ? ORDER BY id LIMIT ?
    """
  case lastImportRow = """
    SELECT MAX(number) FROM import_rows WHERE import_id = ?
    """
  case importCounts = """
    SELECT state, reason, COUNT(*) FROM import_rows INDEXED BY import_rows_by_state
    WHERE import_id = ? GROUP BY state, reason
    """
  /// The condition, which all rows satisfy, names the index.
  case storedImportRows = """
    SELECT COALESCE(SUM(rows), 0) FROM imports WHERE id > 0
    """
  case insertImport = """
    INSERT INTO imports (name, bundle_id, author, began_at, rows) VALUES (?, ?, ?, ?, 0)
    """
  case addImportRows = """
    UPDATE imports SET rows = rows + ? WHERE id = ?
    """
  case deleteImport = """
    DELETE FROM imports WHERE id = ?
    """
  case insertImportRow = """
    INSERT INTO import_rows (
      import_id, number, scope_id, falls_back, account, transaction_id, token, state, reason,
      detail, due_at, failures, refusals, cursor, changed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '', ?)
    """
  case importRow = """
    SELECT imports.name, import_rows.number, scopes.bundle_id, scopes.environment,
      import_rows.falls_back, import_rows.account, import_rows.transaction_id, import_rows.token,
      import_rows.state, import_rows.reason, import_rows.detail, import_rows.due_at,
      import_rows.lease, import_rows.failures, import_rows.refusals, import_rows.cursor,
      import_rows.changed_at
    FROM import_rows CROSS JOIN imports ON imports.id = import_rows.import_id
      CROSS JOIN scopes ON scopes.id = import_rows.scope_id
    WHERE import_rows.import_id = ? AND import_rows.number = ?
    """
  case importRowPage = """
    SELECT imports.name, import_rows.number, scopes.bundle_id, scopes.environment,
      import_rows.falls_back, import_rows.account, import_rows.transaction_id, import_rows.token,
      import_rows.state, import_rows.reason, import_rows.detail, import_rows.due_at,
      import_rows.lease, import_rows.failures, import_rows.refusals, import_rows.cursor,
      import_rows.changed_at
    FROM import_rows INDEXED BY import_rows_by_number
      CROSS JOIN imports ON imports.id = import_rows.import_id
      CROSS JOIN scopes ON scopes.id = import_rows.scope_id
    WHERE import_rows.import_id = ? AND import_rows.state = ?
      AND import_rows.scope_id IN (?, ?, ?, ?) AND import_rows.number > ?
    ORDER BY import_rows.number LIMIT ?
    """
  /// Waiting and done rows with a transaction, in the order in which the index has them. More than a few
  /// are of accounts that were refused.
  case importTwins = """
    SELECT imports.name, import_rows.number, scopes.bundle_id, scopes.environment,
      import_rows.falls_back, import_rows.account, import_rows.transaction_id, import_rows.token,
      import_rows.state, import_rows.reason, import_rows.detail, import_rows.due_at,
      import_rows.lease, import_rows.failures, import_rows.refusals, import_rows.cursor,
      import_rows.changed_at
    FROM import_rows INDEXED BY import_rows_by_transaction
      CROSS JOIN imports ON imports.id = import_rows.import_id
      CROSS JOIN scopes ON scopes.id = import_rows.scope_id
    WHERE import_rows.scope_id = ? AND import_rows.transaction_id = ?
      AND import_rows.state IN (1, 2)
    LIMIT 16
    """
  case dueImportRows = """
    SELECT imports.name, import_rows.number, scopes.bundle_id, scopes.environment,
      import_rows.falls_back, import_rows.account, import_rows.transaction_id, import_rows.token,
      import_rows.state, import_rows.reason, import_rows.detail, import_rows.due_at,
      import_rows.lease, import_rows.failures, import_rows.refusals, import_rows.cursor,
      import_rows.changed_at
    FROM import_rows INDEXED BY import_rows_due
      CROSS JOIN imports ON imports.id = import_rows.import_id
      CROSS JOIN scopes ON scopes.id = import_rows.scope_id
    WHERE import_rows.scope_id = ? AND import_rows.due_at <= ? AND import_rows.state = 1
    ORDER BY import_rows.due_at, import_rows.import_id, import_rows.number LIMIT ?
    """
  /// A lease that has ended without a report is a failure.
  case leaseImportRow = """
    UPDATE import_rows SET
      failures = failures + (lease IS NOT NULL),
      detail = iif(lease IS NULL, detail, 'the lease ended without a report'),
      lease = ?, due_at = ?
    WHERE import_id = ? AND number = ?
    """
  /// Only the holder of the lease. What is NULL stays.
  case reportImportRow = """
    UPDATE import_rows SET
      state = ?, reason = ?, detail = COALESCE(?, detail), lease = NULL, due_at = ?,
      failures = COALESCE(?, failures), refusals = COALESCE(?, refusals), cursor = ?,
      changed_at = ?
    WHERE import_id = ? AND number = ? AND lease = ?
    """
  /// Only the holder of the lease.
  case renewImportRow = """
    UPDATE import_rows SET due_at = ? WHERE import_id = ? AND number = ? AND lease = ?
    """
  /// The lease stays, so that the next one counts a failure.
  case endImportLeases = """
    UPDATE import_rows INDEXED BY import_rows_due SET due_at = ?
    WHERE scope_id = ? AND due_at > ? AND state = 1 AND lease IS NOT NULL
    """
  case importRowsOfAccount = """
    SELECT imports.name, import_rows.number, scopes.bundle_id, scopes.environment,
      import_rows.falls_back, import_rows.account, import_rows.transaction_id, import_rows.token,
      import_rows.state, import_rows.reason, import_rows.detail, import_rows.due_at,
      import_rows.lease, import_rows.failures, import_rows.refusals, import_rows.cursor,
      import_rows.changed_at
    FROM import_rows INDEXED BY import_rows_by_account
      CROSS JOIN imports ON imports.id = import_rows.import_id
      CROSS JOIN scopes ON scopes.id = import_rows.scope_id
    WHERE import_rows.scope_id = ? AND import_rows.account = ?
    ORDER BY import_rows.import_id, import_rows.number LIMIT ?
    """
  case cancelImportRows = """
    UPDATE import_rows SET state = 5, lease = NULL, changed_at = ?
    WHERE import_id = ? AND number IN (
      SELECT number FROM import_rows INDEXED BY import_rows_by_state
      WHERE import_id = ? AND state = 1 AND scope_id IN (?, ?, ?, ?) LIMIT ?)
    """
  /// Without those that are not valid, and conflicts with a row that waits or is cancelled.
  case retryFailedImportRows = """
    UPDATE import_rows SET
      state = 1, reason = 0, detail = '', due_at = ?, lease = NULL, failures = 0, refusals = 0,
      cursor = '', changed_at = ?
    WHERE import_id = ? AND number IN (
      SELECT number FROM import_rows AS failed INDEXED BY import_rows_by_state
      WHERE import_id = ? AND state = 3 AND reason > 1 AND scope_id IN (?, ?, ?, ?)
        AND (reason <> 3 OR NOT EXISTS (
          SELECT 1 FROM import_rows AS other INDEXED BY import_rows_by_transaction
          WHERE other.scope_id = failed.scope_id AND other.transaction_id = failed.transaction_id
            AND other.state IN (1, 5) AND other.account <> failed.account))
      LIMIT ?)
    """
  case retryCancelledImportRows = """
    UPDATE import_rows SET
      state = 1, reason = 0, detail = '', due_at = ?, lease = NULL, failures = 0, refusals = 0,
      cursor = '', changed_at = ?
    WHERE import_id = ? AND number IN (
      SELECT number FROM import_rows INDEXED BY import_rows_by_state
      WHERE import_id = ? AND state = 5 AND scope_id IN (?, ?, ?, ?) LIMIT ?)
    """
  case deleteImportRows = """
    DELETE FROM import_rows WHERE import_id = ? AND number IN (
      SELECT number FROM import_rows WHERE import_id = ? ORDER BY number LIMIT ?)
    """
  case eraseImportRows = """
    DELETE FROM import_rows WHERE scope_id = ? AND account = ?
    """
  /// There are at most as many as ``AccountImportLimits/rows``: some 50 ms. The condition on scopes, which
  /// all rows satisfy, names the index.
  case waitingImportRows = """
    SELECT COUNT(*) FROM import_rows INDEXED BY import_rows_due
    WHERE state = 1 AND scope_id > 0
    """
}
