/// Every statement that runs against the tables, so that a test can look at each one's plan.
///
/// Identifiers in the tables: `scope_id`, `chain_id`, `account`, `header_id` and `document_id` are
/// small integers that stand for the long names; `kind` is a `FactKind`, `kinds` are `ChangeKinds`,
/// `authority` is a `FactAuthority`: 0 is that of what nobody signed.
package enum StoreStatement: String, CaseIterable, Sendable {
  // MARK: Scopes, headers and documents

  case findScope = "SELECT id FROM scopes WHERE environment = ? AND bundle_id = ?"
  case scopeByID = "SELECT bundle_id, environment FROM scopes WHERE id = ?"
  case insertScope = "INSERT INTO scopes (environment, bundle_id) VALUES (?, ?)"
  case findHeader = "SELECT id FROM headers WHERE bytes = ?"
  case insertHeader = "INSERT INTO headers (bytes) VALUES (?)"

  case findDocument = "SELECT id FROM documents WHERE digest = ?"
  case insertDocument = "INSERT INTO documents (digest, bytes) VALUES (?, ?)"
  case deleteUnusedDocument = """
    DELETE FROM documents
    WHERE id = ? AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.document_id = documents.id)
    """

  // MARK: Facts

  case findFact = """
    SELECT id, chain_id, authority, signed_date, is_revoked, is_upgraded, digest, document_id
    FROM facts
    WHERE scope_id = ? AND kind = ? AND identifier = ?
    """
  case insertFact = """
    INSERT INTO facts (
      chain_id, app_transaction_id, app_account_token, previous_chain, authority, signed_date,
      is_revoked, is_upgraded, digest, header_id, payload, signature, document_id, scope_id, kind,
      identifier)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case replaceFact = """
    UPDATE facts SET
      chain_id = ?, app_transaction_id = ?, app_account_token = ?, previous_chain = ?,
      authority = ?, signed_date = ?, is_revoked = ?, is_upgraded = ?, digest = ?, header_id = ?,
      payload = ?, signature = ?, document_id = ?
    WHERE scope_id = ? AND kind = ? AND identifier = ?
    """
  case signedFact = """
    SELECT facts.kind, facts.authority, facts.digest, facts.payload, facts.signature, headers.bytes,
      facts.document_id, documents.bytes
    FROM facts JOIN headers ON headers.id = facts.header_id
      LEFT JOIN documents ON documents.id = facts.document_id
    WHERE facts.scope_id = ? AND facts.kind = ? AND facts.identifier = ?
    """
  case factByKey = """
    SELECT kind, authority, digest, payload FROM facts
    WHERE scope_id = ? AND kind = ? AND identifier = ?
    """
  case factsOfChain = "SELECT kind, authority, digest, payload FROM facts WHERE chain_id = ?"
  case factsOfAccountChains = """
    SELECT facts.kind, facts.authority, facts.digest, facts.payload
    FROM chains CROSS JOIN facts ON facts.chain_id = chains.id
    WHERE chains.account = ?
    """
  case factsOfAccountAppTransactions = """
    SELECT facts.kind, facts.authority, facts.digest, facts.payload
    FROM app_transactions CROSS JOIN facts
      ON facts.scope_id = app_transactions.scope_id
      AND facts.kind = 3
      AND facts.identifier = app_transactions.app_transaction_id
    WHERE app_transactions.account = ?
    """
  case bundlesOfChain = """
    SELECT bundle_id FROM scopes
    WHERE environment = ? AND EXISTS (
      SELECT 1 FROM chains CROSS JOIN facts
        ON facts.chain_id = chains.id AND facts.kind = 1 AND facts.authority > 0
      WHERE chains.scope_id = scopes.id AND chains.original_transaction_id = ?)
    ORDER BY bundle_id
    """

  // MARK: Chains and what hints at their account

  case findChain = """
    SELECT id, scope_id, original_transaction_id, account, revision, updated_at, is_link_unsigned
    FROM chains WHERE scope_id = ? AND original_transaction_id = ?
    """
  case chainByID = """
    SELECT id, scope_id, original_transaction_id, account, revision, updated_at, is_link_unsigned
    FROM chains WHERE id = ?
    """
  case insertChain = "INSERT INTO chains (scope_id, original_transaction_id) VALUES (?, ?)"
  case linkChain = "UPDATE chains SET account = ?, is_link_unsigned = ? WHERE id = ?"
  case setChainRevision = "UPDATE chains SET revision = ?, updated_at = ? WHERE id = ?"
  case hintsOfChain = """
    SELECT app_account_token, app_transaction_id, previous_chain FROM facts
    WHERE chain_id = ? AND authority > 0 ORDER BY signed_date DESC, digest DESC
    """
  case accountOfChainByToken = """
    SELECT chains.account FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
    WHERE facts.scope_id = ? AND facts.app_account_token = ? AND chains.account IS NOT NULL
    ORDER BY facts.chain_id LIMIT 1
    """
  case unlinkedChainsByToken = """
    SELECT DISTINCT chains.id FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
    WHERE facts.scope_id = ? AND facts.app_account_token = ? AND chains.account IS NULL
    ORDER BY chains.id
    """
  case unlinkedChainsByAppTransaction = """
    SELECT DISTINCT chains.id FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
    WHERE facts.scope_id = ? AND facts.app_transaction_id = ? AND chains.account IS NULL
    ORDER BY chains.id
    """
  case unlinkedChainsByPreviousChain = """
    SELECT DISTINCT chains.id FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
    WHERE facts.scope_id = ? AND facts.previous_chain = ? AND chains.account IS NULL
    ORDER BY chains.id
    """

  // MARK: Accounts, and what is linked to them beside chains

  case findAccount = """
    SELECT id, scope_id, account_id, revision, updated_at FROM accounts
    WHERE scope_id = ? AND account_id = ?
    """
  case accountByID = """
    SELECT id, scope_id, account_id, revision, updated_at FROM accounts WHERE id = ?
    """
  case insertAccount = "INSERT INTO accounts (scope_id, account_id, updated_at) VALUES (?, ?, ?)"
  case setAccountRevision = "UPDATE accounts SET revision = ?, updated_at = ? WHERE id = ?"
  case accountPage = """
    SELECT account_id, revision, updated_at,
      (SELECT COUNT(*) FROM chains WHERE chains.account = accounts.id)
    FROM accounts WHERE scope_id = ? AND account_id > ?
    ORDER BY account_id LIMIT ?
    """
  case firstAccountPage = """
    SELECT account_id, revision, updated_at,
      (SELECT COUNT(*) FROM chains WHERE chains.account = accounts.id)
    FROM accounts WHERE scope_id = ?
    ORDER BY account_id LIMIT ?
    """
  case findToken = "SELECT account FROM account_tokens WHERE scope_id = ? AND token = ?"
  case insertToken = "INSERT INTO account_tokens (scope_id, token, account) VALUES (?, ?, ?)"
  case findAppTransaction = """
    SELECT account, is_link_unsigned FROM app_transactions
    WHERE scope_id = ? AND app_transaction_id = ?
    """
  case linkAppTransaction = """
    INSERT INTO app_transactions (scope_id, app_transaction_id, account, is_link_unsigned)
    VALUES (?, ?, ?, ?)
    ON CONFLICT (scope_id, app_transaction_id)
      DO UPDATE SET account = excluded.account, is_link_unsigned = excluded.is_link_unsigned
    """

  // MARK: Grants

  case findGrant = """
    SELECT grants.grant_id, accounts.account_id, grants.entitlement_id, grants.starts,
      grants.expires, grants.reason, grants.author, grants.created_at, grants.withdrawn_at,
      grants.withdrawn_by, grants.withdrawal_reason, grants.account
    FROM grants CROSS JOIN accounts ON accounts.id = grants.account
    WHERE grants.scope_id = ? AND grants.grant_id = ?
    """
  case grantsOfAccount = """
    SELECT grants.grant_id, accounts.account_id, grants.entitlement_id, grants.starts,
      grants.expires, grants.reason, grants.author, grants.created_at, grants.withdrawn_at,
      grants.withdrawn_by, grants.withdrawal_reason, grants.account
    FROM grants CROSS JOIN accounts ON accounts.id = grants.account
    WHERE grants.account = ? ORDER BY grants.created_at, grants.grant_id
    """
  case insertGrant = """
    INSERT INTO grants
      (scope_id, grant_id, account, entitlement_id, starts, expires, reason, author, created_at,
       withdrawn_at, withdrawn_by, withdrawal_reason)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case withdrawGrant = """
    UPDATE grants SET withdrawn_at = ?, withdrawn_by = ?, withdrawal_reason = ?
    WHERE scope_id = ? AND grant_id = ?
    """

  // MARK: History, feed and notifications

  case insertLinkEvent = """
    INSERT INTO link_history
      (chain_id, scope_id, app_transaction_id, from_account, to_account, reason, at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    """
  case linkHistory = """
    SELECT former.account_id, latter.account_id, link_history.reason, link_history.at
    FROM chains CROSS JOIN link_history ON link_history.chain_id = chains.id
      LEFT JOIN accounts AS former ON former.id = link_history.from_account
      LEFT JOIN accounts AS latter ON latter.id = link_history.to_account
    WHERE chains.scope_id = ? AND chains.original_transaction_id = ?
    ORDER BY link_history.id
    """
  case insertChange = """
    INSERT INTO changes (scope_id, account, chain_id, kinds, committed_at) VALUES (?, ?, ?, ?, ?)
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
  case findNotification = "SELECT 1 FROM notifications WHERE uuid = ?"
  case insertNotification = """
    INSERT INTO notifications
      (uuid, scope_id, type, subtype, status, signed_date, received_at, digest, header_id,
       payload, signature)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  case signedNotification = """
    SELECT notifications.uuid, scopes.bundle_id, scopes.environment, notifications.type,
      notifications.subtype, notifications.status, notifications.signed_date,
      notifications.digest, notifications.payload, notifications.signature, headers.bytes
    FROM notifications
      JOIN headers ON headers.id = notifications.header_id
      LEFT JOIN scopes ON scopes.id = notifications.scope_id
    WHERE notifications.uuid = ?
    """
}
