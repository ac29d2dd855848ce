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
    SELECT \(factColumns), facts.header
    FROM \(ownersFacts)
    ORDER BY facts.target, facts.kind, facts.identifier
    """, name: "signed_facts_of_account")

  /// What these facts came out of, each once, however many facts that are.
  static let documentsOfAccount = PostgresStatement(
    """
    WITH \(owner),
    needed AS MATERIALIZED (
      SELECT DISTINCT facts.document FROM \(ownersFacts) WHERE facts.document IS NOT NULL)
    SELECT documents.digest, documents.bytes
    FROM needed JOIN documents ON documents.digest = needed.document
    """, name: "documents_of_account")

  /// The headers of these facts and notifications by their numbers, each once: there are few signers.
  static let headersOfAccount = PostgresStatement(
    """
    WITH \(owner),
    needed AS MATERIALIZED (
      SELECT facts.header FROM \(ownersFacts)
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

  /// The same, without what Apple signed.
  static let notificationRecordsOfAccount = PostgresStatement(
    """
    WITH \(owner)
    SELECT \(recordColumns)
    FROM \(ownersNotifications)
    ORDER BY notifications.received_at, notifications.uuid
    """, name: "notification_records_of_account")

  private static let ownersFacts = """
    owner JOIN account_links
        ON account_links.scope = $1::bigint AND account_links.account = owner.account
      JOIN facts ON facts.scope = $1::bigint AND facts.target = account_links.target
    """

  private static let ownersNotifications = """
    owner JOIN account_links
        ON account_links.scope = $1::bigint AND account_links.account = owner.account
      JOIN notifications
        ON notifications.chain_scope = $1::bigint AND notifications.chain = account_links.target
    """
}
