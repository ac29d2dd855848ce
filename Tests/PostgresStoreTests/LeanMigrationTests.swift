import EntitlementDomain
import EntitlementStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "Rows of schema version 12 that others imply", .enabled(if: EphemeralPostgres.isAvailable))
struct LeanMigrationTests {
  /// Takes a database back to schema version 12, with all rows of it. The tables have no partitions and
  /// few constraints, which the migration does not need. The second halves of digests, which nothing
  /// tells, are invented.
  static let undo = #"""
    CREATE FUNCTION whole(digest bytea) RETURNS bytea LANGUAGE sql STABLE AS $$
      SELECT digest || decode(md5(digest), 'hex')
    $$;
    UPDATE documents SET digest = whole(digest);
    UPDATE notifications SET digest = whole(digest);
    CREATE FUNCTION unpacked(id bytea) RETURNS text LANGUAGE sql STABLE AS $$
      SELECT CASE get_byte(id, 0) WHEN 255 THEN regexp_replace(
          convert_from(substring(id FROM 2), 'UTF8'), '^sha256:[0-9a-f]{32}$', '\&' || md5(id))
        WHEN 254 THEN regexp_replace(encode(substring(id FROM 2), 'hex'),
          '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '\1-\2-\3-\4-\5')
        ELSE rtrim(encode(id, 'hex'), 'f') END
    $$;
    CREATE FUNCTION unpacked_target(target bytea) RETURNS text LANGUAGE sql STABLE AS $$
      SELECT CASE get_byte(target, 0) WHEN 97 THEN 't' ELSE 'c' END || unpacked(substring(target FROM 2))
    $$;
    CREATE TABLE former_links AS
      SELECT scope, unpacked_target(target) COLLATE "C" AS target, account, is_unsigned, is_detached,
        revision, changed_at, is_former_chain, standing
      FROM links;
    CREATE TABLE former_facts AS
      SELECT scope, unpacked_target(target) COLLATE "C" AS target, kind, authority, header,
        signed_date, is_revoked, is_upgraded, unpacked(
          CASE WHEN identifier IN ('', '\xfd') THEN substring(target FROM 2) ELSE identifier END)
          COLLATE "C" AS identifier,
        unpacked(app_transaction) COLLATE "C" AS app_transaction, unpacked(token) COLLATE "C" AS token,
        unpacked(previous_chain) COLLATE "C" AS previous_chain, whole(digest) AS digest, signature,
        whole(document) AS document, payload, history
      FROM facts;
    CREATE TABLE former_versions AS
      SELECT scope, unpacked_target(target) COLLATE "C" AS target, kind, authority, header, unpacked(
          CASE WHEN identifier IN ('', '\xfd') THEN substring(target FROM 2) ELSE identifier END)
          COLLATE "C" AS identifier, statement, signature, payload
      FROM versions;
    CREATE TABLE former_transactions AS
      SELECT scope, identifier AS transaction_id, target FROM former_facts WHERE kind = 1;
    CREATE TABLE former_hints AS
      SELECT DISTINCT scope, hint, target
      FROM former_facts CROSS JOIN LATERAL (
        VALUES ('a' || token), ('p' || previous_chain),
          (CASE WHEN authority > 0 THEN 't' ELSE 'u' END || app_transaction)) AS carried (hint)
      WHERE hint IS NOT NULL;
    CREATE TABLE former_tokens AS
      SELECT scope, unpacked(token) COLLATE "C" AS token, account, state, author, note, since,
        on_behalf_of
      FROM tokens;
    CREATE TABLE former_link_events AS
      SELECT scope, unpacked_target(target) COLLATE "C" AS target, position, at, from_account,
        to_account, is_from_erased, is_to_erased, reason,
        -- After the word `author`: with the token, so that nothing is lost.
        (SELECT substr(convert_from(bytes, 'UTF8'), 8) FROM headers WHERE id = author)
          COLLATE "C" AS author, note, on_behalf_of
      FROM link_events
      UNION ALL
      SELECT scope, unpacked_target(target), event_position, changed_at, NULL, account, false, false,
        CASE event_reason WHEN 1 THEN 'named' WHEN 2 THEN 'appAccountToken'
          WHEN 3 THEN 'appTransaction' WHEN 4 THEN 'previousChain' WHEN 5 THEN 'imported' END,
        NULL, NULL, NULL
      FROM links WHERE event_position IS NOT NULL;
    CREATE TABLE former_account_events AS
      SELECT scope, from_account AS account, position, target FROM former_link_events
      WHERE from_account IS NOT NULL
      UNION SELECT scope, to_account, position, target FROM former_link_events
      WHERE to_account IS NOT NULL;
    CREATE TABLE account_links AS
      SELECT scope, account, target FROM former_links WHERE account IS NOT NULL;
    ALTER TABLE accounts
      DROP COLUMN first_target, DROP COLUMN second_target, DROP COLUMN more_targets;
    DO $$
    DECLARE
      name text;
    BEGIN
      FOREACH name IN ARRAY ARRAY['links', 'facts', 'versions', 'transactions', 'hints', 'tokens',
        'link_events', 'account_events']
      LOOP
        EXECUTE format('DROP TABLE IF EXISTS %I', name);
        EXECUTE format('ALTER TABLE %I RENAME TO %I', 'former_' || name, name);
      END LOOP;
    END
    $$;
    DROP FUNCTION unpacked_target(bytea), unpacked(bytea), whole(bytea);
    DROP TABLE refused_claims;
    DELETE FROM schema_migrations WHERE number = 13;

    """#

  /// All rows of a table as text.
  private static func rows(_ table: String) -> String {
    """
    SELECT coalesce(string_agg(row, ' ' ORDER BY row), '')
    FROM (SELECT row_to_json(\(table))::text AS row FROM \(table)) AS rows
    """
  }

  /// The targets of all accounts as text. Their order may differ.
  private static let targets = """
    SELECT string_agg(account || ' ' || target, ' ' ORDER BY account, target)
    FROM accounts CROSS JOIN LATERAL unnest(
      ARRAY[first_target, second_target] || more_targets) AS held (target)
    WHERE target IS NOT NULL
    """

  private static func count(_ table: String) -> String { "SELECT count(*) FROM \(table)" }

  @Test("The migration removes them, and nothing that a store tells changes")
  func migration() async throws {
    let cluster = try TestDatabases.cluster.get()
    let connection = try await TestDatabases.make()
    let database = try EphemeralPostgres.databaseName(of: connection)
    func value(_ sql: String) throws -> String { try cluster.execute(sql, database: database) }

    var random = SeededRandom(for: "lean migration")
    let before = try await TestDatabases.open(connection)
    var sample = LinkHistorySample(before, SeededRandom(seed: random.next()))
    try await sample.addSettled()
    try await sample.write(60)
    try await sample.write(60, atOnce: 6)
    let report = try await sample.check()
    await before.close()
    let tables = [
      "links", "link_events", "transactions", "facts", "versions", "tokens", "documents",
    ]
    let stored = try tables.map { try value(Self.rows($0)) }
    let targets = try value(Self.targets)
    #expect(try value(Self.count("accounts WHERE more_targets IS NOT NULL")).first != "0")
    let events = try #require(Int(try value(Self.count("account_events"))))

    _ = try value(Self.undo)
    for (table, rows) in zip(tables, stored) where !rows.isEmpty {
      #expect(try value(Self.rows(table)) != rows, "\(table)")
    }
    #expect(try #require(Int(try value(Self.count("account_events")))) > events)
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    for (table, rows) in zip(tables, stored) {
      #expect(try value(Self.rows(table)) == rows, "\(table)")
    }
    #expect(try value(Self.targets) == targets)
    // Fewer where an account lost a purchase and has it again.
    #expect(try #require(Int(try value(Self.count("account_events")))) <= events)

    let after = try await TestDatabases.open(connection)
    sample = LinkHistorySample(after, SeededRandom(seed: random.next()))
    #expect(try await sample.check() == report)
    // Earlier events are moved and erased as those that are written now.
    try await sample.write(60)
    try await sample.check()
    await after.close()
  }

  /// Texts of every form, and such as are nearly of another one.
  private static func identifiers(_ random: inout SeededRandom) -> Set<String> {
    let uuid = "7e3fb204-2c8a-4d5f-9b1e-0123456789ab"
    var texts: Set = [
      "", "0", "1", "01", "10", "100", "2000000123456789", "704289572311513866", "-1", "+1", "1 ",
      " 1",
      "1f", "f", "abc", "anonymous:1", "\u{e4}\u{1f511}", "\u{661}\u{662}", "1\n", "\n1", "1\n2",
      "'",
      "\\", "\\x31", "{1,2}", uuid, uuid.uppercased(), uuid + "0", String(uuid.dropLast()),
      uuid + "\n", "{\(uuid)}", uuid.replacing("-", with: ""), uuid.replacing("e", with: "g"),
      "7e3fb20-42c8a-4d5f-9b1e-0123456789ab", "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ]
    for _ in 0..<300 {
      let length = Int.random(in: 0..<40, using: &random)
      let alphabet = Array(
        ["0123456789", "0123456789abcdef-", "a1-\u{fe}\u{ff}\u{10ffff}'\"\\,"]
          .randomElement(using: &random) ?? "")
      texts.insert(
        String(
          (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }))
    }
    return texts
  }

  @Test("The migration packs each id as the store does, whatever its form")
  func packedIdentifiers() async throws {
    let cluster = try TestDatabases.cluster.get()
    let connection = try await TestDatabases.make()
    let database = try EphemeralPostgres.databaseName(of: connection)
    _ = try cluster.execute(Self.undo, database: database)
    var random = SeededRandom(for: "packed ids")
    let texts = Self.identifiers(&random).sorted()
    let pool = try ConnectionFixture.pool(connection)
    // The number of a text is its scope.
    let values: [PostgresValue] = [.texts(texts.map { $0 })]
    for (number, insert) in [
      """
      INSERT INTO tokens (scope, token, account, state)
      SELECT place, id, 'a', 1 FROM unnest($1::text[]) WITH ORDINALITY AS given (id, place)
      """,
      """
      INSERT INTO facts (scope, target, kind, authority, header, signed_date, is_revoked,
        is_upgraded, identifier, app_transaction, token, previous_chain, digest, signature, payload)
      SELECT place, 'c' || id, 1, 2, 1, place, false, false, fact, id, id, id, '', '', '{}'
      FROM unnest($1::text[]) WITH ORDINALITY AS given (id, place),
        unnest(ARRAY[id, 'x' || id]) AS fact
      """,
    ].enumerated() {
      _ = try await pool.write(
        [PostgresCommand(PostgresStatement(insert, name: "fill_\(number)"), values)],
        within: .seconds(60))
    }
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    let tokens = try await pool.query(
      PostgresStatement("SELECT scope, token FROM tokens", name: "packed_tokens"), [],
      within: .seconds(60))
    #expect(tokens.count == texts.count)
    for row in 0..<tokens.count {
      let text = texts[Int(try tokens.number(row, 0)) - 1]
      #expect(try tokens.data(row, 1) == PackedIdentifier.bytes(of: text), "\(text)")
    }
    let facts = try await pool.query(
      PostgresStatement(
        """
        SELECT scope, target, identifier, app_transaction, token, previous_chain FROM facts
        ORDER BY scope, identifier
        """,
        name: "packed_facts"), [], within: .seconds(60))
    #expect(facts.count == 2 * texts.count)
    for row in 0..<facts.count {
      let text = texts[Int(try facts.number(row, 0)) - 1]
      #expect(try facts.linkTarget(row, 1) == .chain(OriginalTransactionID(text)))
      let key = FactKey(kind: .transaction, identifier: row % 2 == 0 ? text : "x" + text)
      #expect(
        try facts.data(row, 2) == key.stored(in: .chain(OriginalTransactionID(text))), "\(text)")
      for hint in 3...5 {
        #expect(try facts.data(row, hint) == PackedIdentifier.bytes(of: text), "\(text)")
      }
    }
    await pool.close()
  }

  /// The lengths of all digests of facts, their documents, documents and notifications, and of the
  /// longest id of an app transaction.
  private static let lengths = """
    SELECT concat_ws(' ',
      (SELECT array_agg(DISTINCT octet_length(digest)) FROM facts),
      (SELECT array_agg(DISTINCT octet_length(document)) FROM facts WHERE document IS NOT NULL),
      (SELECT array_agg(DISTINCT octet_length(digest)) FROM documents),
      (SELECT array_agg(DISTINCT octet_length(digest)) FROM notifications),
      (SELECT max(octet_length(target)) FROM links))
    """

  @Test("R67: what was stored with whole digests is known again, and documents are found")
  func digests() async throws {
    let cluster = try TestDatabases.cluster.get()
    let connection = try await TestDatabases.make()
    let database = try EphemeralPostgres.databaseName(of: connection)
    func value(_ sql: String) throws -> String {
      try cluster.execute(sql, database: database).trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let archive = try DigestArchive()
    let before = try await TestDatabases.open(connection)
    try await archive.fill(before)
    let answers = try await archive.answers(of: before)
    await before.close()
    try await RawPayloads.restore(in: connection)
    _ = try value(Self.undo)
    // A letter, "sha256:" and 64 digits.
    #expect(try value(Self.lengths) == "{32} {32} {32} {32} 72")
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    // A letter, the mark of a text, "sha256:" and 32 digits.
    #expect(try value(Self.lengths) == "{16} {16} {16} {32} 41")

    let after = try await TestDatabases.open(connection)
    try await archive.check(answers, in: after)
    // The conversion compares each payload with its digest, too.
    while try await after.convertPayloads(limit: 100) != .complete {}
    let status = try #require(try await PostgresDictionaries.status(connection: connection))
    #expect(status.conversions.map(\.damagedRows) == [0, 0, 0, 0])
    #expect(status.conversions.allSatisfy { $0.rows > 0 })
    try await archive.check(answers, in: after)
    let documents = try value(Self.count("documents"))
    try await archive.addNewer(to: after)
    #expect(try value(Self.count("documents")) == documents)
    #expect(try value(Self.lengths) == "{16} {16} {16} {16,32} 41")
    await after.close()
  }

  @Test("Owners and privileges of the tables stay, and a conversion of payloads begins again")
  func privileges() async throws {
    let cluster = try TestDatabases.cluster.get()
    let connection = try await TestDatabases.make()
    let database = try EphemeralPostgres.databaseName(of: connection)
    func value(_ sql: String) throws -> String {
      try cluster.execute(sql, database: database).trimmingCharacters(in: .whitespacesAndNewlines)
    }
    _ = try value(
      """
      \(Self.undo)
      CREATE ROLE "lean owner";
      CREATE ROLE lean_reader;
      GRANT CREATE ON SCHEMA public TO "lean owner";
      ALTER TABLE facts OWNER TO "lean owner";
      GRANT SELECT ON facts, tokens TO PUBLIC;
      GRANT SELECT, UPDATE ON links TO lean_reader WITH GRANT OPTION;
      UPDATE payload_conversions SET ended_at = NULL, looked_at = 7, pass = 2,
        position = ARRAY['c1', '1', '1', '1'];
      """)
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    #expect(
      try value(
        """
        SELECT string_agg(pg_get_userbyid(relowner), ',') FROM pg_class
        WHERE relname IN ('facts', 'facts_pkey')
        """) == "lean owner,lean owner")
    #expect(
      try value(
        """
        SELECT string_agg(grantee || ' ' || table_name || ' ' || privilege_type || ' '
          || is_grantable, ', ' ORDER BY grantee, table_name, privilege_type)
        FROM information_schema.role_table_grants WHERE table_schema = 'public'
          AND grantee IN ('PUBLIC', 'lean_reader') AND table_name !~ '[0-7]$'
        """)
        == "PUBLIC facts SELECT NO, PUBLIC tokens SELECT NO, lean_reader links SELECT YES, "
        + "lean_reader links UPDATE YES")
    #expect(
      try value(
        """
        SELECT string_agg(table_name || ' ' || looked_at || ' ' || (position IS NULL), ', '
          ORDER BY table_name) FROM payload_conversions
        """)
        == "documents 0 true, facts 0 true, notifications 7 false, versions 0 true")
    #expect(try value("SELECT count(*) FROM pg_class WHERE relname LIKE 'lean%'") == "0")
    #expect(
      try value("SELECT count(*) FROM pg_constraint WHERE conname LIKE 'lean%' AND contype <> 'n'")
        == "0")
    #expect(try value("SELECT count(*) FROM pg_proc WHERE proname LIKE 'lean%'") == "0")
    _ = try value(
      "DROP OWNED BY \"lean owner\", lean_reader; DROP ROLE \"lean owner\", lean_reader")
  }

  @Test("The last step waits for a reader that goes on to other tables, and refuses it none")
  func reader() async throws {
    let cluster = try TestDatabases.cluster.get()
    let connection = try await TestDatabases.make()
    let database = try EphemeralPostgres.databaseName(of: connection)
    _ = try cluster.execute(Self.undo, database: database)
    let pool = try PostgresPool.forMigration(connection)
    let status = try await pool.withSession(within: .seconds(60)) { session in
      _ = try await session.exchange(
        [
          ConnectionFixture.command("BEGIN"),
          ConnectionFixture.command("SELECT count(*) FROM account_events"),
        ], within: .seconds(60))
      async let status = PostgresSchema.migrate(
        connection: connection, dryRun: false, report: { _ in })
      // It has locked the others, and waits for this one.
      try await eventually {
        try cluster.execute(
          "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'account_events'::regclass",
          database: database
        ).trimmingCharacters(in: .whitespacesAndNewlines) == "1"
      }
      _ = try await session.exchange(
        [
          ConnectionFixture.command("SELECT count(*) FROM accounts"),
          ConnectionFixture.command("COMMIT"),
        ], within: .seconds(60))
      return try await status
    }
    #expect(status.found == status.expected)
    await pool.close()
  }

  @Test("A writer of the former version cannot commit any more")
  func formerWriter() async throws {
    let cluster = try TestDatabases.cluster.get()
    let connection = try await TestDatabases.make()
    let database = try EphemeralPostgres.databaseName(of: connection)
    let refusal = #expect(throws: (any Error).self) {
      try cluster.execute(
        "INSERT INTO commit_tokens (token, base, writer_schema) VALUES ('\\x01', 0, 12)",
        database: database)
    }
    #expect("\(String(describing: refusal))".contains("writer_schema"))
  }
}
