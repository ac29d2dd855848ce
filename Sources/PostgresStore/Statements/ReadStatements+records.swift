// The history and the export of an account. `$1` scope, `$2` account.
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
    SELECT tokens.token FROM owner JOIN tokens
      ON tokens.scope = $1::bigint AND tokens.account = owner.account
    ORDER BY tokens.token
    """, name: "tokens_of_account")

  static let signedFactsOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(signedFactColumns)
    FROM owner JOIN account_links
        ON account_links.scope = $1::bigint AND account_links.account = owner.account
      JOIN facts ON facts.scope = $1::bigint AND facts.target = account_links.target
    \(headersOfFacts)
    ORDER BY facts.target, facts.kind, facts.identifier
    """, name: "signed_facts_of_account")

  /// What these facts came out of, each once, however many facts that are.
  static let documentsOfAccount = PostgresStatement(
    """
    WITH \(owner),
    needed AS MATERIALIZED (
      SELECT DISTINCT facts.document FROM owner JOIN account_links
          ON account_links.scope = $1::bigint AND account_links.account = owner.account
        JOIN facts ON facts.scope = $1::bigint AND facts.target = account_links.target
      WHERE facts.document IS NOT NULL)
    SELECT documents.digest, documents.bytes
    FROM needed JOIN documents ON documents.digest = needed.document
    """, name: "documents_of_account")

  static let notificationsOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(notificationColumns)
    FROM \(ownersNotifications)
      LEFT JOIN LATERAL (
        SELECT headers.bytes FROM headers WHERE headers.id = notifications.header OFFSET 0)
        AS headers ON true
    ORDER BY notifications.received_at, notifications.uuid
    """, name: "notifications_of_account")

  /// The same, without what Apple signed.
  static let notificationRecordsOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(recordColumns)
    FROM \(ownersNotifications)
    ORDER BY notifications.received_at, notifications.uuid
    """, name: "notification_records_of_account")

  private static let ownersNotifications = """
    owner JOIN account_links
        ON account_links.scope = $1::bigint AND account_links.account = owner.account
      JOIN notifications
        ON notifications.chain_scope = $1::bigint AND notifications.chain = account_links.target
    """
}
