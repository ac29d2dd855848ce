import Foundation
import Glibc
import SQLiteStore
import TestSupport
import Testing

@Suite("entitlectl database", .timeLimit(.minutes(5)))
struct DatabaseCommandTests {
  @Test(
    "64: a URI of no PostgreSQL database, without printing it", arguments: ["status", "migrate"])
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

    let again = try await run("migrate", output: "table")
    #expect(again.exit == .code(0))
    #expect(!again.errors.contains("applied"))
    #expect(again.output.split(separator: "\n").count == migrations.count + 1)
    let table = try await run("status", output: "table")
    #expect(table.exit == .code(0))
    #expect(table.output == again.output)
  }

  @Test("2: an SQLite file that does not exist, or of another version; 0: one of this version")
  func file() async throws {
    let folder = try TemporaryFolder()
    func status(_ name: String, output: String = "json") async throws -> ProgramRun {
      try await ProgramRun.of(
        .entitlectl,
        ["database", "status", "--output", output, "--database", "sqlite:\(folder.file(name))"])
    }
    let missing = try await status("none")
    #expect(missing.exit == .code(2), "\(missing.errors)")
    #expect(missing.output == "")
    #expect(missing.errors.contains("does not exist"), "\(missing.errors)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("none")))

    let path = folder.file("entitle.sqlite")
    let store = try SQLiteStore.open(at: path)
    // A server may have the file open.
    let current = try await status("entitle.sqlite")
    #expect(current.exit == .code(0), "\(current.errors)")
    let document = try current.document(JSONTree.self)
    let expected = try #require(document["expectedVersion"]?.integer)
    #expect(expected >= 1)
    #expect(document["version"]?.integer == expected)
    #expect(document["migrations"]?.elements == [])
    let table = try await status("entitle.sqlite", output: "table")
    #expect(
      table.output.split(whereSeparator: \.isWhitespace)
        == ["VERSION", "EXPECTED", "\(expected)", "\(expected)"])
    await store.close()

    let others: [(Int64, String)] = [(9_999, "newer than this program"), (0, "older schema")]
    for (version, text) in others {
      var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
      // `user_version`, big-endian (SQLite, "Database File Format", 1.3).
      bytes.replaceSubrange(60..<64, with: [0, 0, UInt8(version >> 8), UInt8(version & 255)])
      try Data(bytes).write(to: URL(filePath: folder.file("\(version).sqlite")))
      let other = try await status("\(version).sqlite")
      #expect(other.exit == .code(2), "\(other.errors)")
      #expect(other.errors.contains(text), "\(other.errors)")
      #expect(try other.document(JSONTree.self)["version"]?.integer == version)
    }

    _ = try folder.write("no database", to: "foreign.sqlite")
    let foreign = try await status("foreign.sqlite")
    #expect(foreign.exit == .code(1), "\(foreign.errors)")
    #expect(foreign.output == "")
  }
}
