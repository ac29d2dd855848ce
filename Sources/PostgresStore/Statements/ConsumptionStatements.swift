/// Statements for what the App Store is told about consumption (R86). A state of 1 is open.
enum ConsumptionStatements {
  /// The columns that `PostgresRows.consumption` reads.
  static func columns(_ table: String) -> String {
    """
    \(table).id, \(table).scope, \(table).transaction_id, \(table).percentage,
    \(table).delivery_status, \(table).state, \(table).cause, \(table).notification_uuid,
    \(table).reason, \(table).requested_at, \(table).detail, \(table).attempts,
    \(table).sending, \(table).opened_at, \(table).changed_at
    """
  }

  // MARK: Reading

  /// `$1` scopes, `$2` transaction ids. The first column as in ``LoadStatements``.
  static let load = PostgresStatement(
    """
    SELECT key.place, \(columns("record"))
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS key (scope, transaction_id, place)
    CROSS JOIN LATERAL (
      SELECT * FROM consumption_requests
      WHERE consumption_requests.scope = key.scope
        AND consumption_requests.transaction_id = key.transaction_id
      OFFSET 0) AS record
    """, name: "load_consumption")

  /// `$1` scopes, `$2` accounts. The first column as in ``LoadStatements``.
  static let loadConsents = PostgresStatement(
    """
    SELECT key.place, consent.is_given, consent.at, consent.author, consent.on_behalf_of,
      consent.note
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS key (scope, account, place)
    CROSS JOIN LATERAL (
      SELECT * FROM consumption_consents
      WHERE consumption_consents.scope = key.scope AND consumption_consents.account = key.account
      OFFSET 0) AS consent
    """, name: "load_consents")

  /// The consent of an account, or of the one that it was merged into. `$1` the scope, `$2` the account.
  static let consentOfAccount = PostgresStatement(
    """
    SELECT 1, consent.is_given, consent.at, consent.author, consent.on_behalf_of, consent.note
    FROM (
      SELECT coalesce(accounts.merged_into, accounts.account) AS account FROM accounts
      WHERE accounts.scope = $1::bigint AND accounts.account = $2::text OFFSET 0) AS owner
    CROSS JOIN LATERAL (
      SELECT * FROM consumption_consents
      WHERE consumption_consents.scope = $1::bigint
        AND consumption_consents.account = owner.account
      OFFSET 0) AS consent
    """, name: "consent_of_account")

  /// Records in the order of their ids, with their places among those that were looked through, and
  /// whether they are selected. `$1` the id to continue after, `$2` how many rows to look through, `$3`
  /// scopes or NULL for all, `$4` the limit.
  static let page = page(
    where: "consumption_requests.id > $1::bigint AND consumption_requests.state IS NOT NULL",
    name: "consumption_page")

  /// As ``page``, with `$5` the state.
  static let pageByState = page(
    where: "consumption_requests.state = $5::bigint AND consumption_requests.id > $1::bigint",
    name: "consumption_page_by_state")

  private static func page(where condition: String, name: String) -> PostgresStatement {
    PostgresStatement(
      """
      WITH scanned AS MATERIALIZED (
        SELECT consumption_requests.*,
          row_number() OVER (ORDER BY consumption_requests.id) AS place
        FROM consumption_requests WHERE \(condition)
        ORDER BY consumption_requests.id LIMIT $2::bigint),
      judged AS (
        SELECT scanned.*,
          ($3::bigint[] IS NULL OR scope = ANY ($3::bigint[])) AS is_selected
        FROM scanned)
      SELECT \(columns("judged")), judged.place, judged.is_selected
      FROM judged WHERE is_selected OR place = $2::bigint
      ORDER BY place LIMIT $4::bigint
      """, name: name)
  }

  /// Open requests of the scopes `$2`, counted up to `$1`, and the moment of the first one. The condition
  /// on moments, which all rows satisfy, names the index.
  static let counts = PostgresStatement(
    """
    SELECT
      (SELECT count(*) FROM (
        SELECT 1 FROM unnest($2::bigint[]) AS named (scope)
        CROSS JOIN LATERAL (
          SELECT 1 FROM consumption_requests
          WHERE consumption_requests.scope = named.scope AND state = 1 AND requested_at > 0
          LIMIT $1::bigint) AS request
        LIMIT $1::bigint) AS open),
      (SELECT min(first.requested_at) FROM unnest($2::bigint[]) AS named (scope)
        CROSS JOIN LATERAL (
          SELECT requested_at FROM consumption_requests
          WHERE consumption_requests.scope = named.scope AND state = 1 AND requested_at > 0
          ORDER BY requested_at LIMIT 1) AS first)
    """, name: "count_consumption")

  // MARK: Writing

  private static let written = """
    percentage, delivery_status, state, cause, notification_uuid, reason, requested_at, detail,
    attempts, sending, opened_at, changed_at
    """

  /// `$1` scopes, `$2` transaction ids, then one array for each column.
  static let add = PostgresStatement(
    """
    INSERT INTO consumption_requests (scope, transaction_id, \(written))
    SELECT * FROM unnest(
      $1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
      $8::text[], $9::bigint[], $10::text[], $11::bigint[], $12::text[], $13::bigint[],
      $14::bigint[])
    """, name: "add_consumption")

  /// `$1` ids, then one array for each column.
  static let write = PostgresStatement(
    """
    UPDATE consumption_requests SET
      percentage = row.percentage, delivery_status = row.delivery_status, state = row.state,
      cause = row.cause, notification_uuid = row.notification_uuid, reason = row.reason,
      requested_at = row.requested_at, detail = row.detail, attempts = row.attempts,
      sending = row.sending, opened_at = row.opened_at, changed_at = row.changed_at
    FROM unnest(
        $1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[],
        $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::text[], $12::bigint[],
        $13::bigint[])
      AS row (id, \(written))
    WHERE consumption_requests.id = row.id
    """, name: "write_consumption")

  /// `$1` scopes, `$2` accounts, then one array for each column.
  static let writeConsents = PostgresStatement(
    """
    INSERT INTO consumption_consents (scope, account, is_given, at, author, on_behalf_of, note)
    SELECT * FROM unnest(
      $1::bigint[], $2::text[], $3::boolean[], $4::bigint[], $5::text[], $6::text[], $7::text[])
    ON CONFLICT (scope, account) DO UPDATE SET
      is_given = excluded.is_given, at = excluded.at, author = excluded.author,
      on_behalf_of = excluded.on_behalf_of, note = excluded.note
    """, name: "write_consents")

  /// `$1` scopes, `$2` accounts.
  static let deleteConsents = PostgresStatement(
    """
    DELETE FROM consumption_consents
    USING unnest($1::bigint[], $2::text[]) AS gone (scope, account)
    WHERE consumption_consents.scope = gone.scope AND consumption_consents.account = gone.account
    """, name: "delete_consents")

  static let all = [
    load, loadConsents, consentOfAccount, page, pageByState, counts, add, write, writeConsents,
    deleteConsents,
  ]
}
