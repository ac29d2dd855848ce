import Foundation
import RPCClient
import TestSupport
import Testing
import Wire

@Suite("entitle-load prepare", .timeLimit(.minutes(5)))
struct LoadPrepareTests {
  @Test("A server is filled, and a repeated run changes nothing")
  func server() async throws {
    let bench = try await LoadBench()
    let first = try await bench.prepare()
    #expect(first.exit == .code(0), "\(first.errors)")
    #expect(first.errors.contains("customers: 60"))
    let run = try await bench.run("--mix", "cold=1", "--choose", "uniform", "--count", "200")
    #expect(run.exit == .code(0), "\(run.errors)")
    let submissions = try await submissions(to: bench)
    #expect(submissions > 0)
    let second = try await bench.prepare()
    #expect(second.exit == .code(0), "\(second.errors)")
    #expect(try await self.submissions(to: bench) == submissions)
  }

  /// The number of payloads that the server has accepted.
  private func submissions(to bench: LoadBench) async throws -> Int64 {
    let client = try await bench.server.client()
    let counters = try await client.statistics().counters
    await client.close()
    return counters.filter { $0.name.hasPrefix("submissions.facts.") }.reduce(0) {
      $0 + Int64($1.value)
    }
  }

  @Test("1: a server that does not trust the authority")
  func untrusted() async throws {
    let bench = try await LoadBench()
    let other = try Bench()
    let run = try await ProgramRun.of(
      .entitleLoad,
      [
        "prepare", "--server", "\(bench.server.address)", "--authority", other.authorityPath,
        "--customers", "3",
      ])
    #expect(run.exit == .code(1))
    #expect(run.errors.contains("a payload was refused as untrustedChain"), "\(run.errors)")
  }

  @Test("69: no server is listening")
  func unreachable() async throws {
    let bench = try Bench()
    let run = try await ProgramRun.of(
      .entitleLoad,
      [
        "prepare", "--server", "unix:\(bench.folder.file("none"))", "--authority",
        bench.authorityPath,
      ])
    #expect(run.exit == .code(69))
  }

  @Test(
    "A database is filled once, its customers are valid, and other customers are kept",
    .enabled(if: EphemeralPostgres.isAvailable))
  func database() async throws {
    let uri = try EphemeralPostgres.shared.makeDatabase()
    let arguments = ["prepare", "--postgres", uri]
    func prepare(_ more: String...) async throws -> ProgramRun {
      try await ProgramRun.of(.entitleLoad, arguments + more)
    }
    let first = try await prepare("--customers", "60", "--population-seed", "9")
    #expect(first.exit == .code(0), "\(first.errors)")
    #expect(first.errors.contains("loading customers: 60"))
    let again = try await prepare("--customers", "60", "--population-seed", "9")
    #expect(again.exit == .code(0), "\(again.errors)")
    #expect(again.errors.contains("60 customers are already loaded"))
    let others = try await prepare("--customers", "61", "--population-seed", "9")
    #expect(others.exit == .code(1))
    #expect(others.errors.contains("the database contains other customers"), "\(others.errors)")

    let bench = try await LoadBench(store: uri)
    // One call at a time: a slow server sheds reads that would wait.
    let run = try await bench.run(
      "--mix", "cold=3,claim=1", "--authority", bench.bench.authorityPath, "--choose", "uniform",
      "--count", "300", "--connections", "1", "--in-flight", "1")
    #expect(run.exit == .code(0), "\(run.errors)")
    #expect(try run.document(LoadBench.Report.self).answers.checked == 300)
  }

  @Test(
    "An interrupted load of a database is continued", .enabled(if: EphemeralPostgres.isAvailable))
  func resumption() async throws {
    let uri = try EphemeralPostgres.shared.makeDatabase()
    let name = try EphemeralPostgres.databaseName(of: uri)
    // Two chunks, one of which is removed, as after an interrupted first attempt.
    let arguments = ["prepare", "--postgres", uri, "--customers", "5050", "--workers", "1"]
    let first = try await ProgramRun.of(.entitleLoad, arguments)
    #expect(first.exit == .code(0), "\(first.errors)")
    let cluster = try EphemeralPostgres.shared
    let tables = try cluster.execute(
      """
      SELECT string_agg(format('SELECT %L, count(*) FROM %I', relname, relname), ' UNION ALL '
        ORDER BY relname) || ' ORDER BY 1'
      FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
        AND NOT relispartition;
      """, database: name
    ).trimmingCharacters(in: .whitespacesAndNewlines)
    let whole = try cluster.execute(tables, database: name)
    try cluster.execute(
      """
      DELETE FROM facts WHERE target IN
        (SELECT target FROM links WHERE account >= '1000005000');
      DELETE FROM transactions WHERE target IN
        (SELECT target FROM links WHERE account >= '1000005000');
      DELETE FROM links WHERE account >= '1000005000';
      DELETE FROM tokens WHERE account >= '1000005000';
      DELETE FROM link_events WHERE to_account >= '1000005000';
      DELETE FROM account_events WHERE account >= '1000005000';
      DELETE FROM changes WHERE account >= '1000005000';
      DELETE FROM accounts WHERE account >= '1000005000';
      DO $$ BEGIN EXECUTE format('COMMENT ON DATABASE %I IS %L', current_database(), replace(
        shobj_description((SELECT oid FROM pg_database WHERE datname = current_database()),
          'pg_database'), 'complete', 'begun')); END $$;
      """, database: name)
    #expect(try cluster.execute(tables, database: name) != whole)
    let second = try await ProgramRun.of(.entitleLoad, arguments)
    #expect(second.exit == .code(0), "\(second.errors)")
    #expect(second.errors.contains("continuing the interrupted load"))
    #expect(second.errors.contains("loading customers: 50"), "\(second.errors)")
    #expect(try cluster.execute(tables, database: name) == whole)
  }
}
