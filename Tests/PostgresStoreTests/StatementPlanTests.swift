import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Plans of the store's statements", .enabled(if: EphemeralPostgres.isAvailable))
struct StatementPlanTests {
  private static let statements: [PostgresStatement] =
    LockStatements.all + LoadStatements.all + WriteStatements.all + ReadStatements.all
    + FeedStatements.all
    + AuditStatements.all
    + JobStatements.all + ConsumptionStatements.all
    + ImportStatements.all
    + [HeaderCache.insert, HeaderCache.find, WriteTransaction.checkIDs]
    + [CustomerStatement.accounts]
    + [ScopeCache.all, ScopeCache.insert, BatchWriter.claimToken, SequenceOffset.raise]
    + CustomerStatement.allCases.flatMap { statement in
      CustomerStatement.Extent.allCases.flatMap { extent in
        [false, true].map { statement.statement(extent, onStandby: $0) }
      }
    }

  /// A database with enough customers that the planner prefers indexes.
  private static let database = Task { () throws -> String in
    let connection = try await TestDatabases.make()
    let name = try EphemeralPostgres.databaseName(of: connection)
    try TestDatabases.cluster.get().execute(filling, database: name)
    return name
  }

  @Test("Every statement finds its rows by an index, for any parameters", arguments: statements)
  func everyStatementUsesIndexes(statement: PostgresStatement) async throws {
    let database = try await Self.database.value
    let plan = try Self.plan(of: statement, database: database)
    let whole = Self.tablesReadWhole(plan)
    #expect(
      whole.isEmpty,
      "\(statement.name) reads all of \(whole):\n\(plan.joined(separator: "\n"))")
  }

  @Test(
    "A statement that cannot use an index is noticed",
    arguments: [
      "SELECT * FROM facts WHERE header = $1::bigint",
      "SELECT * FROM headers WHERE bytes = $1::bytea",
      "SELECT more_targets FROM accounts ORDER BY scope, account",
    ])
  func wholeTablesAreNoticed(sql: String) async throws {
    let database = try await Self.database.value
    let statement = PostgresStatement(sql, name: "noticed")
    #expect(!Self.tablesReadWhole(try Self.plan(of: statement, database: database)).isEmpty)
  }

  @Test("A read of an account scans one partition of each table keyed by account")
  func partitionsArePruned() async throws {
    let database = try await Self.database.value
    let plan = try Self.plan(
      of: CustomerStatement.account.statement(.record, onStandby: false), database: database)
    // Accounts, for their targets once more, and grants: seven of eight partitions are pruned before
    // execution.
    #expect(plan.count { $0.contains("Subplans Removed: 7") } == 3)
    // Facts: the link determines the partition at run time.
    let run = try Self.plan(
      of: CustomerStatement.account.statement(.record, onStandby: false), database: database,
      explain: "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF)",
      text: "account-7")
    let facts = run.filter { $0.contains(" on facts_") && !$0.contains("Bitmap Index Scan") }
    #expect(facts.count == 8)
    let used = facts.count { !$0.contains("never executed") }
    #expect((1...3).contains(used), "\(used) partitions of facts were read for three targets")
  }

  // MARK: Steps

  /// Tables of which a plan scans all rows or a whole index.
  private static func tablesReadWhole(_ plan: [String]) -> [String] {
    // Tables with one row or a few, and the small catalog table.
    let small: Set<String> = ["meta", "scopes", "pg_database", "imports"]
    var whole: [String] = []
    // The table of the last index scan, until a line with its condition follows.
    var unbounded: String?
    for line in plan {
      if line.contains("Index Cond") { unbounded = nil }
      guard let table = scannedTable(line) else { continue }
      if let unbounded { whole.append(unbounded) }
      unbounded = line.contains("Index") ? table : nil
      if line.contains("Seq Scan") { whole.append(table) }
    }
    if let unbounded { whole.append(unbounded) }
    return whole.filter { !small.contains($0) }
  }

  private static func scannedTable(_ line: String) -> String? {
    let words = line.split(separator: " ")
    guard line.contains("Scan"), let place = words.lastIndex(of: "on"), place + 1 < words.count
    else { return nil }
    return String(words[place + 1])
  }

  private static func plan(
    of statement: PostgresStatement, database: String,
    explain: String = "EXPLAIN (COSTS OFF)", text: String = "x"
  ) throws -> [String] {
    let values = parameterTypes(statement.sql).map { type in
      switch type {
      case "text": "'\(text)'"
      case "bigint": "1"
      case "bytea": "'\\x00'"
      default: "'{}'"
      }
    }
    let arguments = values.isEmpty ? "" : "(\(values.joined(separator: ", ")))"
    // The store's settings, except those that only forbid plans which this test must notice.
    return try TestDatabases.cluster.get().execute(
      """
      SET plan_cache_mode = force_generic_plan;
      SET max_parallel_workers_per_gather = 0;
      SET enable_hashjoin = off;
      SET enable_mergejoin = off;
      PREPARE looked_at AS \(statement.sql);
      \(explain) EXECUTE looked_at\(arguments)
      """, database: database
    ).split(separator: "\n").map(String.init)
  }

  /// Read from the casts in the text.
  private static func parameterTypes(_ sql: String) -> [Substring] {
    var types: [Int: Substring] = [:]
    for piece in sql.split(separator: "$").dropFirst() {
      let digits = piece.prefix { $0.isNumber }
      guard let number = Int(digits), piece.dropFirst(digits.count).hasPrefix("::") else {
        continue
      }
      types[number] = piece.dropFirst(digits.count + 2).prefix {
        $0.isLetter || $0 == "[" || $0 == "]"
      }
    }
    return types.sorted { $0.key < $1.key }.map(\.value)
  }

  private static let filling = """
    INSERT INTO scopes (environment, bundle_id)
      SELECT 'Production', 'com.example.app' || i FROM generate_series(1, 3) i;
    INSERT INTO headers (bytes) SELECT decode(md5(i::text), 'hex') FROM generate_series(1, 3000) i;
    INSERT INTO commit_tokens (token, base, writer_schema)
      SELECT decode(md5(i::text), 'hex'), i, 13 FROM generate_series(1, 3000) i;
    INSERT INTO documents SELECT decode(md5(i::text), 'hex'), 'x' FROM generate_series(1, 9000) i;
    INSERT INTO accounts (scope, account, revision, changed_at, merged_into, is_deleted, claims)
      SELECT 1, 'account-' || i, i, i, NULL, false, 0 FROM generate_series(1, 10000) i
      UNION ALL SELECT 1, 'alias-' || i, i, i, 'account-' || i, false, 0
      FROM generate_series(1, 3000) i
      UNION ALL SELECT 1, 'gone-' || i, i, i, NULL, true, 0 FROM generate_series(1, 3000) i;
    INSERT INTO links (scope, target, account, is_unsigned, is_detached, revision, changed_at)
      SELECT 1, convert_to('c' || i || '-' || c, 'UTF8'), CASE WHEN c < 3 THEN 'account-' || i END,
        false, false, 0, 0
      FROM generate_series(1, 10000) i, generate_series(1, 3) c;
    UPDATE accounts
      SET first_target = held.targets[1], second_target = held.targets[2],
        more_targets = ARRAY[convert_to('a' || substr(held.account, 9), 'UTF8')]
      FROM (SELECT account, array_agg(target) AS targets FROM links GROUP BY account) AS held
      WHERE accounts.account = held.account;
    INSERT INTO facts (
      scope, target, kind, authority, header, signed_date, is_revoked, is_upgraded, identifier,
      app_transaction, token, previous_chain, digest, signature, document, payload)
      SELECT links.scope, links.target, 1, 2, 1, 0, false, false,
        CASE WHEN f = 2 THEN links.target ELSE '' END, links.target, links.target, links.target, '',
        '', CASE WHEN f = 1 THEN decode(md5(links.target), 'hex') END, '{}'
      FROM links, generate_series(1, 2) f;
    INSERT INTO transactions SELECT scope, identifier, target FROM facts WHERE identifier <> '';
    INSERT INTO versions (
      scope, target, kind, authority, header, identifier, statement, signature, payload)
      SELECT scope, target, kind, authority, header, identifier, decode(md5(target::text || v), 'hex'),
        '', '{}'
      FROM facts, generate_series(1, 2) v;
    INSERT INTO tokens (scope, token, account, since)
      SELECT 1, convert_to('token-' || i, 'UTF8'), 'account-' || i, 0 FROM generate_series(1, 10000) i;
    INSERT INTO grants
      SELECT 1, 'account-' || i, 0, 'grant-' || i, 'pro', 0, NULL, '', '', NULL, NULL, NULL
      FROM generate_series(1, 10000) i;
    INSERT INTO link_events (
      scope, target, position, at, to_account, is_from_erased, is_to_erased, reason)
      SELECT scope, target, row_number() OVER (), 0, account, false, false, 'named' FROM links;
    INSERT INTO account_events (scope, account, position, target)
      SELECT scope, to_account, position, target FROM link_events WHERE to_account IS NOT NULL;
    INSERT INTO refused_claims (scope, target, claimer, at)
      SELECT scope, target, 'account-' || row_number() OVER (), row_number() OVER () FROM links;
    INSERT INTO notifications (
      uuid, scope, header, received_at, type, chain, digest, signature, payload)
      SELECT 'uuid-' || i, 1, 1, i, 'TEST', convert_to('c' || i, 'UTF8'), '', '', '{}'
      FROM generate_series(1, 10000) i;
    INSERT INTO changes
      SELECT i::bigint << 16, i, 1, 1, 'account-' || i, NULL, NULL FROM generate_series(1, 9000) i;
    INSERT INTO audit_entries
      SELECT 'chain-' || i, p, 'node', i * p, '', 'AddGrant', '', '', '', '', '', '', '', '', '',
        md5(i::text), '', '', ''
      FROM generate_series(1, 3000) i, generate_series(1, 5) p;
    INSERT INTO audit_heads SELECT 'chain-' || i, 5, md5(i::text), 5 FROM generate_series(1, 3000) i;
    INSERT INTO audit_seals SELECT i, i, 'node', '', '' FROM generate_series(1, 9000) i;
    INSERT INTO audit_seal_chains SELECT i, 'chain-' || i, 5, '', 0, ''
      FROM generate_series(1, 9000) i;
    INSERT INTO app_store_jobs (
      scope, kind, chain, state, opening, reasons, opened_at, changed_at, due_at, failures,
      unexplained, last_failure, cursor, calls, payloads, added, refused)
      SELECT i % 3 + 1, 1, 'chain-' || i, CASE WHEN i % 100 = 0 THEN 1 ELSE 2 END, 1, 2, i, i, i, 0,
        0, '', '', 0, 0, 0, 0
      FROM generate_series(1, 10000) i;
    INSERT INTO consumption_requests (
      scope, transaction_id, state, notification_uuid, requested_at, detail, attempts, opened_at,
      changed_at)
      SELECT i % 3 + 1, 'transaction-' || i, CASE WHEN i % 100 = 0 THEN 1 ELSE 2 END, '', i, '', 0,
        i, i
      FROM generate_series(1, 10000) i;
    INSERT INTO consumption_consents
      SELECT i % 3 + 1, 'account-' || i, true, i, '', NULL, '' FROM generate_series(1, 10000) i;
    INSERT INTO imports (name, bundle_id, author, began_at, rows)
      SELECT 'import-' || i, 'com.example.app1', 'a', i, 10 FROM generate_series(1, 1000) i;
    INSERT INTO import_rows (
      import, number, scope, falls_back, account, transaction_id, state, reason, detail, due_at,
      failures, refusals, cursor, changed_at)
      SELECT i % 1000 + 1, i, i % 3 + 1, false, 'account-' || i, i::text,
        CASE WHEN i % 100 = 0 THEN 1 ELSE 2 END, 0, '', i, 0, 0, '', i
      FROM generate_series(1, 10000) i;
    INSERT INTO audit_accounts SELECT 1, 'account-' || i, md5(i::text)
      FROM generate_series(1, 10000) i;
    ANALYZE
    """
}

extension PostgresStatement: CustomTestStringConvertible {
  package var testDescription: String { name }
}
