import EntitlementDomain

/// Reads a customer by a selector in one statement, and therefore on one snapshot.
///
/// The rows are of several kinds, marked in the first column (``CustomerRowKind``). All kinds share
/// one shape: the kind, four numbers and eight byte strings; texts are byte strings too, so that no row has
/// columns for both. ``CustomerRowKind`` documents the columns that each kind uses.
enum CustomerStatement: String, CaseIterable {
  case account
  case originalTransaction
  case transaction
  case appTransaction
  case appAccountToken

  /// How much of the customer is read.
  enum Extent: String, CaseIterable {
    /// Only the account or chains that the selector finds.
    case subject
    /// Facts and grants as well.
    case record
    /// Facts with all their versions, and grants.
    case history
  }

  static let columns = 13

  init(_ selector: CustomerSelector) {
    switch selector {
    case .account: self = .account
    case .originalTransaction: self = .originalTransaction
    case .transaction: self = .transaction
    case .appTransaction: self = .appTransaction
    case .appAccountToken: self = .appAccountToken
    }
  }

  func statement(_ extent: Extent, onStandby: Bool) -> PostgresStatement {
    Self.statements[Key(statement: self, extent: extent, onStandby: onStandby)]
      ?? makeStatement(extent, onStandby: onStandby)
  }

  /// Reads several accounts with facts and grants. `$1` scopes, `$2` accounts. A last column has
  /// the position in these arrays, from 1, of the account that the row belongs to.
  static let accounts: PostgresStatement = {
    let one = Self.account.arms(.record).joined(separator: "\nUNION ALL ")
      .replacing("$1::bigint", with: "asked.scope").replacing("$2::text", with: "asked.account")
    let names = (0..<columns).map { "column_\($0)" }.joined(separator: ", ")
    return PostgresStatement(
      """
      SELECT found.*, asked.place
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked (scope, account, place),
        LATERAL (\(one)) AS found (\(names))
      """, name: "customers_by_account_record")
  }()

  private struct Key: Hashable {
    let statement: CustomerStatement
    let extent: Extent
    let onStandby: Bool
  }

  /// All texts, built once.
  private static let statements: [Key: PostgresStatement] = {
    var statements: [Key: PostgresStatement] = [:]
    for statement in allCases {
      for extent in Extent.allCases {
        for onStandby in [false, true] {
          statements[Key(statement: statement, extent: extent, onStandby: onStandby)] =
            statement.makeStatement(extent, onStandby: onStandby)
        }
      }
    }
    return statements
  }()

  private func makeStatement(_ extent: Extent, onStandby: Bool) -> PostgresStatement {
    var arms = arms(extent)
    if onStandby { arms.append(Self.arm(.watermark, numbers: [FeedNumbers.standbyWatermark])) }
    let sql = (with.isEmpty ? "" : "WITH \(with)\n") + arms.joined(separator: "\nUNION ALL ")
    let suffix = onStandby ? "_on_standby" : ""
    return PostgresStatement(sql, name: "customer_by_\(rawValue)_\(extent.rawValue)\(suffix)")
  }

  // MARK: Parts

  private func arms(_ extent: Extent) -> [String] {
    switch extent {
    case .subject: subjects
    case .record: subjects + facts.map { Self.fact(from: $0("facts")) } + grants
    case .history:
      subjects + facts.map { Self.fact(from: $0("facts")) }
        + facts.map { Self.factHistory(from: $0("facts")) }
        + facts.map { Self.version(from: $0("versions")) } + grants
    }
  }

  /// `$1` scope, `$2` account, target or packed id, `$3` for an app transaction its packed id.
  private var with: String {
    switch self {
    case .account: ""
    case .originalTransaction:
      """
      link AS MATERIALIZED (
        SELECT target, account, revision, changed_at FROM links
        WHERE scope = $1::bigint AND target = $2::bytea)
      """
    case .transaction:
      // The chain of a known transaction (R7), else the chain that has this id. A known transaction
      // of the chain that has its id has no row of its own.
      """
      link AS MATERIALIZED (
        SELECT target, account, revision, changed_at FROM links
        WHERE scope = $1::bigint AND target = COALESCE(
          (SELECT transactions.target FROM transactions
            WHERE transactions.scope = $1::bigint AND transactions.transaction_id = $2::bytea),
          \(Targets.ofChain("$2::bytea"))))
      """
    case .appTransaction:
      """
      known AS MATERIALIZED (
        SELECT account, standing IN (2, 4) AS is_ambiguous FROM links
        WHERE scope = $1::bigint AND target = $2::bytea AND account IS NOT NULL),
      owner AS MATERIALIZED (SELECT account FROM known WHERE NOT is_ambiguous),
      carrier AS MATERIALIZED (
        \(Self.carriers(of: "facts.app_transaction = $3::bytea", leads: Self.leadsUnlessContested))),
      \(Self.carried)
      """
    case .appAccountToken:
      """
      known AS MATERIALIZED (
        SELECT account, state = 2 AS is_ambiguous FROM tokens
        WHERE scope = $1::bigint AND token = $2::bytea),
      owner AS MATERIALIZED (SELECT account FROM known WHERE NOT is_ambiguous),
      carrier AS MATERIALIZED (\(Self.carriers(of: "facts.token = $2::bytea", leads: "true"))),
      \(Self.carried)
      """
    }
  }

  /// Chains with a hint, unless the identifier itself is linked to an account. An ambiguous
  /// identifier leads to no account (R71).
  ///
  /// - Parameters:
  ///   - hint: SQL condition of the facts that carry it.
  ///   - leads: SQL condition under which the account of such a chain is the selected customer.
  private static func carriers(of hint: String, leads: String) -> String {
    """
    SELECT links.target, links.account, links.revision,
      \(leads) AND NOT EXISTS (SELECT 1 FROM known WHERE is_ambiguous) AS leads
    FROM facts JOIN links ON links.scope = facts.scope AND links.target = facts.target
    WHERE facts.scope = $1::bigint AND \(hint) AND NOT EXISTS (SELECT 1 FROM owner)
    """
  }

  /// An app transaction leads to the account of a chain only if a signed fact of the chain carries it, and
  /// the link of the chain is neither unsigned nor contested (R70). 2 is LinkStanding.contested, 4 .disputed.
  private static let leadsUnlessContested =
    "facts.authority > 0 AND NOT links.is_unsigned AND links.standing NOT IN (2, 4)"

  /// The account of the first chain that leads to one; without such a chain, all unlinked chains
  /// with the hint.
  private static let carried = """
    bearer AS MATERIALIZED (
      SELECT account FROM carrier WHERE account IS NOT NULL AND leads ORDER BY target LIMIT 1),
    loose AS MATERIALIZED (
      SELECT DISTINCT target, revision FROM carrier
      WHERE account IS NULL AND NOT EXISTS (SELECT 1 FROM bearer)),
    holder AS MATERIALIZED (SELECT account FROM owner UNION ALL SELECT account FROM bearer)
    """

  private var subjects: [String] {
    switch self {
    case .account:
      [
        Self.arm(
          .account, numbers: ["revision", "changed_at", "is_deleted::integer"],
          texts: ["account", "merged_into"],
          from: "FROM accounts WHERE scope = $1::bigint AND account = $2::text")
      ]
    case .originalTransaction, .transaction:
      [
        Self.account(.account, of: "link"),
        Self.arm(
          .chain, numbers: ["revision", "changed_at"], bytes: ["target"],
          from: "FROM link WHERE account IS NULL"),
      ]
    case .appTransaction, .appAccountToken:
      [
        Self.account(.account, of: "owner"), Self.account(.hintedAccount, of: "bearer"),
        Self.arm(.hintedChain, numbers: ["revision"], bytes: ["target"], from: "FROM loose"),
      ]
    }
  }

  /// The rows of the customer's facts: `FROM` clauses, given the table of the facts or of their
  /// versions.
  private var facts: [(_ table: String) -> String] {
    switch self {
    case .account:
      [
        { table in
          """
          FROM accounts CROSS JOIN LATERAL unnest(\(Targets.all(of: "accounts")))
            AS held (target)
            \(Targets.rows(of: table))
          WHERE accounts.scope = $1::bigint AND accounts.account = $2::text
          """
        }
      ]
    case .originalTransaction, .transaction:
      [Self.ofAccounts(of: "link"), Self.ofTargets(of: "link", "link.account IS NULL")]
    case .appTransaction:
      [
        Self.ofAccounts(of: "holder"), Self.ofTargets(of: "loose"),
        { table in
          """
          FROM \(table) WHERE \(table).scope = $1::bigint AND \(table).target = $2::bytea
            AND NOT EXISTS (SELECT 1 FROM holder)
          """
        },
      ]
    case .appAccountToken:
      [Self.ofAccounts(of: "holder"), Self.ofTargets(of: "loose")]
    }
  }

  private var grants: [String] {
    switch self {
    case .account:
      [
        Self.grant(
          from: "FROM grants WHERE grants.scope = $1::bigint AND grants.account = $2::text")
      ]
    case .originalTransaction, .transaction: [Self.grants(ofAccountsOf: "link")]
    case .appTransaction, .appAccountToken: [Self.grants(ofAccountsOf: "holder")]
    }
  }

  private static func account(_ kind: CustomerRowKind, of table: String) -> String {
    arm(
      kind,
      numbers: ["accounts.revision", "accounts.changed_at", "accounts.is_deleted::integer"],
      texts: ["accounts.account"],
      from: """
        FROM \(table) JOIN accounts
          ON accounts.scope = $1::bigint AND accounts.account = \(table).account
        """)
  }

  private static func ofAccounts(of owners: String) -> (_ table: String) -> String {
    { table in
      """
      FROM \(owners) JOIN \(Targets.ofAccount(of: owners))
        \(Targets.rows(of: table))
      """
    }
  }

  private static func ofTargets(
    of owners: String, _ condition: String = "true"
  ) -> (_ table: String) -> String {
    { table in
      """
      FROM \(owners) JOIN \(table)
        ON \(table).scope = $1::bigint AND \(table).target = \(owners).target
      WHERE \(condition)
      """
    }
  }

  private static func grants(ofAccountsOf table: String) -> String {
    grant(
      from: """
        FROM \(table) JOIN grants
          ON grants.scope = $1::bigint AND grants.account = \(table).account
        """)
  }

  private static func fact(from: String) -> String {
    arm(
      .fact, numbers: ["facts.kind", "facts.authority", "facts.signed_date"],
      bytes: [
        "facts.digest", "facts.payload", Targets.identifier(of: "facts"), "facts.app_transaction",
        "facts.token", "facts.previous_chain", "facts.supplement",
      ], from: from)
  }

  private static func factHistory(from: String) -> String {
    arm(
      .factHistory, numbers: ["facts.kind"],
      bytes: ["facts.history", Targets.identifier(of: "facts")], from: from)
  }

  private static func version(from: String) -> String {
    arm(
      .version, numbers: ["versions.kind", "versions.authority"],
      bytes: ["versions.statement", "versions.payload", Targets.identifier(of: "versions")],
      from: from)
  }

  private static func grant(from: String) -> String {
    arm(
      .grant,
      numbers: ["grants.starts", "grants.expires", "grants.created_at", "grants.withdrawn_at"],
      texts: [
        "grants.grant_id", "grants.entitlement_id", "grants.reason", "grants.author",
        "grants.withdrawn_by", "grants.withdrawal_reason", "grants.on_behalf_of",
        "grants.withdrawn_on_behalf_of",
      ], from: from)
  }

  private static func arm(
    _ kind: CustomerRowKind, numbers: [String] = [], texts: [String] = [], bytes: [String] = [],
    from: String = ""
  ) -> String {
    let columns =
      ["\(kind.rawValue)::bigint"]
      + padded(numbers.map { "\($0)::bigint" }, to: 4, "NULL::bigint")
      + padded(texts.map { "textsend(\($0))" } + bytes, to: 8, "NULL::bytea")
    return "SELECT \(columns.joined(separator: ", ")) \(from)"
  }

  private static func padded(_ list: [String], to count: Int, _ filler: String) -> [String] {
    list + [String](repeating: filler, count: count - list.count)
  }
}

/// The kind of a row of a ``CustomerStatement``, with the columns that it uses. Numbers begin at
/// column 1, texts or bytes at column 5.
enum CustomerRowKind: Int64 {
  /// Numbers: revision, moment of the last change, 1 if deleted. Texts: id, account that it was
  /// merged into.
  case account = 0
  /// Numbers: kind, authority, moment of the signature. Bytes: digest, payload, packed identifier, app
  /// transaction, token, previous chain, supplement.
  case fact = 1
  /// Numbers: start, end, creation, withdrawal. Texts: id, entitlement, reason, author, author and
  /// reason of the withdrawal, on behalf of, on behalf of at the withdrawal.
  case grant = 2
  /// The single unlinked chain that the selector finds. Numbers: revision, moment of the last
  /// change. Bytes: target.
  case chain = 3
  /// One of several unlinked chains with the hint. Numbers: revision. Bytes: target.
  case hintedChain = 4
  /// The account of a chain with the hint. Columns as for `account`.
  case hintedAccount = 5
  /// Only on a standby. Numbers: the feed watermark.
  case watermark = 6
  /// The versions of a fact. Numbers: kind. Bytes: history, NULL for one version that was signed once;
  /// packed identifier.
  case factHistory = 7
  /// A version that does not stand. Numbers: kind, authority. Bytes: statement, payload, packed
  /// identifier.
  case version = 8
}
