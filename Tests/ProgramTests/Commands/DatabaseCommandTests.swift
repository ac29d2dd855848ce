import Glibc
import TestSupport
import Testing

@Suite("entitlectl database", .timeLimit(.minutes(5)))
struct DatabaseCommandTests {
  @Test(
    "64: a URI of no PostgreSQL database, without printing it",
    arguments: ["status", "migrate", "train-dictionary"])
  func usage(verb: String) async throws {
    let valid = ["--database", "postgresql://u@h/d"]
    var rows: [([String], [String: String], String)] = [
      (valid + ["--timeout", "0"], [:], "--timeout is more than 0"),
      (valid + ["--timeout", "86401"], [:], "--timeout is more than 0 and at most 86400 seconds"),
      ([], [:], "--database is needed"),
      (["--database", "sqlite:"], [:], "postgresql://USER@HOST/NAME"),
      (["--database", "mysql://u@h/secret"], [:], "postgresql://USER@HOST/NAME"),
      (["--database", "mysql://u:secret@h/d"], [:], "--database contains a password"),
      ([], ["ENTITLE_STORE": "mysql://u:secret@h/d"], "postgresql://USER@HOST/NAME"),
      (["--database", ""], [:], "postgresql://USER@HOST/NAME"),
    ]
    if verb == "migrate" {
      rows += [
        (["--database", "sqlite:/tmp/secret"], [:], "the server migrates it at its start"),
        ([], ["ENTITLE_STORE": "sqlite:/tmp/secret"], "ENTITLE_STORE names an SQLite file"),
      ]
    }
    if verb == "train-dictionary" {
      rows += [
        (valid + ["--samples", "0"], [:], "--samples is from 1 to 100000"),
        (valid + ["--samples", "100001"], [:], "--samples is from 1 to 100000"),
      ]
    }
    for (arguments, environment, text) in rows {
      let run = try await ProgramRun.of(
        .entitlectl, ["database", verb] + arguments, environment: environment)
      #expect(run.exit == .code(64), "\(arguments)")
      #expect(run.output == "")
      #expect(run.errors.contains(text), "\(arguments): \(run.errors)")
      #expect(!run.errors.contains("secret"))
    }
  }

  @Test("64: a password in the command line, with the ways to give it")
  func passwordArgument() async throws {
    for uri in ["postgresql://u:secret@h/d", "postgresql:///d?password=secret&host=h"] {
      let commands: [(Program, [String], String, [String])] = [
        (.entitlectl, ["database", "status", "--database"], "--database", ["ENTITLE_STORE"]),
        (.entitlectl, ["database", "migrate", "--database"], "--database", ["ENTITLE_STORE"]),
        (.entitleLoad, ["prepare", "--postgres"], "--postgres", []),
      ]
      for (program, arguments, option, ways) in commands {
        let run = try await ProgramRun.of(program, arguments + [uri])
        #expect(run.exit == .code(64))
        #expect(run.output == "")
        #expect(run.errors.contains("\(option) contains a password"), "\(run.errors)")
        for way in ways + ["~/.pgpass", "PGPASSFILE", "passfile="] {
          #expect(run.errors.contains(way), "\(run.errors)")
        }
        #expect(!run.errors.contains("secret"))
      }
    }
  }

  @Test(
    "A password file, a password in the environment and a URI there are used",
    .enabled(if: EphemeralPostgres.isAvailable))
  func passwordElsewhere() async throws {
    var options = EphemeralPostgres.Options()
    options.listensOnTCP = true
    options.requiresPassword = true
    let cluster = try EphemeralPostgres.start(options)
    try cluster.execute("ALTER ROLE postgres PASSWORD 'secret'")
    let folder = try TemporaryFolder()
    let file = try folder.write("127.0.0.1:*:*:postgres:secret\n", to: "pgpass")
    #expect(chmod(file, 0o600) == 0)
    let uri = cluster.tcpConnectionString()
    let rows: [([String], [String: String], ProgramExit)] = [
      (["--database", uri], [:], .code(3)),
      (["--database", uri + "?passfile=\(file)"], [:], .code(1)),
      (["--database", uri], ["PGPASSFILE": file], .code(1)),
      (["--database", uri], ["PGPASSWORD": "secret"], .code(1)),
      ([], ["ENTITLE_STORE": cluster.tcpConnectionString(password: "secret")], .code(1)),
    ]
    for (arguments, environment, exit) in rows {
      let run = try await ProgramRun.of(
        .entitlectl, ["database", "status"] + arguments, environment: environment)
      // 1: the empty database has to be migrated.
      #expect(run.exit == exit, "\(arguments) \(environment.keys): \(run.errors)")
      #expect(!(run.output + run.errors).contains("secret"))
    }
  }

  @Test func `3: a database that is not there, without its password`() async throws {
    let folder = try TemporaryFolder()
    for verb in ["status", "migrate", "train-dictionary"] {
      let run = try await ProgramRun.of(
        .entitlectl,
        ["database", verb, "--timeout", "0.5"],
        environment: [
          "ENTITLE_STORE": "postgresql://entitle:secret@/entitle?host=\(folder.file("none"))"
        ])
      #expect(run.exit == .code(3), "\(verb)")
      #expect(run.output == "")
      #expect(!run.errors.contains("secret"))
    }
  }

  // Needs the programs of a PostgreSQL server.
  @Test(
    "A database is checked, its migration is tried, and it is migrated once",
    .enabled(if: EphemeralPostgres.isAvailable))
  func migrating() async throws {
    let url = try EphemeralPostgres.shared.makeDatabase()
    func run(_ arguments: String..., output: String = "json") async throws -> ProgramRun {
      try await ProgramRun.of(
        .entitlectl, ["database"] + arguments + ["--output", output],
        environment: ["ENTITLE_STORE": url])
    }
    let empty = try await run("status")
    #expect(empty.exit == .code(1))
    #expect(empty.errors.contains("entitlectl database migrate"))
    let before = try empty.document(JSONTree.self)
    #expect(before["version"]?.integer == 0)
    let expected = try #require(before["expectedVersion"]?.integer)
    #expect(expected >= 1)
    let migrations = try #require(before["migrations"]).elements
    #expect(migrations.compactMap { $0["number"]?.integer } == Array(1...expected))
    #expect(migrations.allSatisfy { $0["appliedAtMs"] == nil })

    let tried = try await run("migrate", "--dry-run")
    #expect(tried.exit == .code(0))
    #expect(tried.errors.contains("would apply 1 "))
    #expect(try tried.document(JSONTree.self) == before)
    #expect(try await run("status").document(JSONTree.self) == before)

    let done = try await run("migrate")
    #expect(done.exit == .code(0))
    #expect(done.errors.contains("applied \(expected) "))
    let after = try done.document(JSONTree.self)
    #expect(after["version"]?.integer == expected)
    #expect(after["migrations"]?.elements.allSatisfy { $0["appliedAtMs"] != nil } == true)
    let current = try await run("status")
    #expect(current.exit == .code(0))
    #expect(current.errors == "")
    #expect(try current.document(JSONTree.self) == after)

    // As an interrupted run leaves it.
    let name = try EphemeralPostgres.databaseName(of: url)
    try EphemeralPostgres.shared.execute(
      "UPDATE meta SET versions_added_through = ''", database: name)
    let interrupted = try await run("status")
    #expect(interrupted.exit == .code(1))
    #expect(interrupted.errors.contains("entitlectl database migrate"))
    #expect(try interrupted.document(JSONTree.self)["lacksVersions"] == .boolean(true))

    let again = try await run("migrate", output: "table")
    #expect(again.exit == .code(0))
    #expect(!again.errors.contains("applied"))
    #expect(again.output.split(separator: "\n").count == migrations.count + 1)

    // A new database has nothing to convert.
    #expect(before["payloads"] == nil)
    let conversions = try #require(after["payloads"]?["conversions"]).elements
    #expect(
      conversions.compactMap { $0["table"]?.text } == [
        "facts", "versions", "notifications", "documents",
      ])
    for conversion in conversions {
      #expect(conversion["endedAtMs"] != nil)
      #expect(conversion["rows"]?.text == "0")
    }
    _ = try await run("migrate")
    let table = try await run("status", output: "table")
    #expect(table.exit == .code(0))
    #expect(table.output.contains("CONVERSION"))
    #expect(!table.output.contains("SAMPLES"))
    let refused = try await run("train-dictionary")
    #expect(refused.exit == .code(2))
    #expect(refused.output == "")
    #expect(refused.errors.contains("0 payloads are too few for a dictionary"))
  }

  @Test(
    "A dictionary is tried, trained, and listed", .enabled(if: EphemeralPostgres.isAvailable))
  func training() async throws {
    let url = try EphemeralPostgres.shared.makeDatabase()
    let name = try EphemeralPostgres.databaseName(of: url)
    func run(_ arguments: String..., output: String = "json") async throws -> ProgramRun {
      try await ProgramRun.of(
        .entitlectl, ["database"] + arguments + ["--output", output],
        environment: ["ENTITLE_STORE": url])
    }
    let older = try await run("train-dictionary")
    #expect(older.exit == .code(2))
    #expect(older.errors.contains("entitlectl database migrate"))
    #expect(try await run("migrate").exit == .code(0))
    // As a former version stored them.
    try EphemeralPostgres.shared.execute(
      """
      INSERT INTO facts (scope, target, kind, authority, header, signed_date, is_revoked,
        is_upgraded, identifier, digest, signature, payload)
      SELECT 1, '\\x63'::bytea || decode(to_char(i, 'FM0000'), 'hex'), 1, 2, 1, i, false, false, '',
        substring(sha256(payload) FROM 1 FOR 16), '', payload
      FROM generate_series(1, 1000) i, LATERAL (SELECT convert_to(
        '{"transactionId":"' || i || '","productId":"com.example.reader.gold.' || i % 7
          || '","storefront":"' || md5(i::text) || '","type":"Auto-Renewable Subscription"}',
        'UTF8') AS payload) made
      """, database: name)

    let tried = try await run("train-dictionary", "--dry-run", "--samples", "600")
    #expect(tried.exit == .code(0))
    #expect(tried.errors.hasPrefix("training a dictionary on payloads of "))
    let trial = try tried.document(JSONTree.self)
    #expect(trial["dictionary"] == nil)
    #expect(trial["samples"]?.integer == 540)
    #expect(trial["comparedSamples"]?.integer == 60)
    #expect(trial["converts"] == .boolean(false))
    #expect(
      try await run("status").document(JSONTree.self)["payloads"]?["dictionaries"]?.elements == [])

    let trained = try await run("train-dictionary", "--convert")
    #expect(trained.exit == .code(0))
    let report = try trained.document(JSONTree.self)
    #expect(report["dictionary"]?.integer == 2)
    #expect(report["samples"]?.integer == 900)
    #expect(report["converts"] == .boolean(true))
    let again = try await run("train-dictionary", output: "table")
    #expect(again.exit == .code(0))
    #expect(again.output.hasPrefix("DICTIONARY"))
    #expect(again.output.split(separator: "\n").last?.hasPrefix("3 ") == true)

    let status = try await run("status")
    #expect(status.exit == .code(0))
    let payloads = try #require(try status.document(JSONTree.self)["payloads"])
    let dictionaries = try #require(payloads["dictionaries"]).elements
    #expect(dictionaries.compactMap { $0["number"]?.integer } == [2, 3])
    #expect(dictionaries.compactMap { $0["samples"]?.integer } == [900, 900])
    for conversion in try #require(payloads["conversions"]).elements {
      #expect(conversion["dictionary"]?.integer == 2)
      #expect(conversion["endedAtMs"] == nil)
    }
    #expect(try await run("status", output: "table").output.contains("SAMPLES"))
  }

  @Test("An SQLite file has a status of its payloads; one that is not there is refused")
  func file() async throws {
    let folder = try TemporaryFolder()
    for arguments in [["status"], ["train-dictionary"], ["train-dictionary", "--dry-run"]] {
      let run = try await ProgramRun.of(
        .entitlectl, ["database"] + arguments + ["--database", "sqlite:\(folder.file("none"))"])
      #expect(run.exit == .code(2), "\(arguments): \(run.errors)")
      #expect(run.output == "")
      #expect(run.errors.contains("does not exist"), "\(run.errors)")
    }
    #expect(Glibc.access(folder.file("none"), F_OK) != 0)
  }
}
