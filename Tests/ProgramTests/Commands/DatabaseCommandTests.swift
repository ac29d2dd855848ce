import Glibc
import TestSupport
import Testing

@Suite("entitlectl database", .timeLimit(.minutes(5)))
struct DatabaseCommandTests {
  @Test(
    "64: a URI of no PostgreSQL database, without printing it",
    arguments: ["status", "migrate"])
  func usage(verb: String) async throws {
    let valid = ["--database", "postgresql://u@h/d"]
    let rows: [([String], [String: String], String)] = [
      (valid + ["--timeout", "0"], [:], "--timeout is more than 0"),
      (valid + ["--timeout", "86401"], [:], "--timeout is more than 0 and at most 86400 seconds"),
      ([], [:], "--database is needed"),
      (["--database", "sqlite:/tmp/secret"], [:], "the server migrates it at its start"),
      ([], ["ENTITLE_STORE": "sqlite:/tmp/secret"], "ENTITLE_STORE names an SQLite file"),
      (["--database", "mysql://u@h/secret"], [:], "postgresql://USER@HOST/NAME"),
      (["--database", "mysql://u:secret@h/d"], [:], "--database contains a password"),
      ([], ["ENTITLE_STORE": "mysql://u:secret@h/d"], "postgresql://USER@HOST/NAME"),
      (["--database", ""], [:], "postgresql://USER@HOST/NAME"),
    ]
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
    for verb in ["status", "migrate"] {
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
    let name = try #require(url.split(separator: "?").first?.split(separator: "/").last)
    try EphemeralPostgres.shared.execute(
      "UPDATE meta SET versions_added_through = ''", database: String(name))
    let interrupted = try await run("status")
    #expect(interrupted.exit == .code(1))
    #expect(interrupted.errors.contains("entitlectl database migrate"))
    #expect(try interrupted.document(JSONTree.self)["lacksVersions"] == .boolean(true))

    let again = try await run("migrate", output: "table")
    #expect(again.exit == .code(0))
    #expect(!again.errors.contains("applied"))
    #expect(again.output.split(separator: "\n").count == migrations.count + 1)
  }
}
