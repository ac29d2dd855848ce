import EntitlementDomain
import Foundation
import Glibc
import RPCClient
import TestSupport
import Testing
import Wire

@Suite("entitle-load run", .timeLimit(.minutes(5)))
struct LoadRunTests {
  @Test("closed loop: calls of every kind, with each answer checked")
  func everyKind() async throws {
    let bench = try await LoadBench()
    let prepared = try await bench.prepare()
    try #require(prepared.exit == .code(0), "\(prepared.errors)")
    let run = try await bench.run(
      "--mix", "hot=5,cold=2,absent=1,batch=1,check=2,submit=1,claim=1,notify=1", "--authority",
      // As many calls at a time as the store has readers: a slow server sheds reads that would wait.
      bench.bench.authorityPath, "--connections", "2", "--in-flight", "2", "--threads", "2",
      "--count", "600", "--batch-size", "7", "--idle-connections", "20",
      "--plot", bench.bench.folder.file("plot.svg"))
    #expect(run.exit == .code(0), "\(run.errors)")
    let report = try run.document(LoadBench.Report.self)
    #expect(report.all.calls == 600)
    // The server may refuse a few on a machine that stands still for some milliseconds.
    let refused = report.all.errors["RESOURCE_EXHAUSTED", default: 0]
    #expect(report.all.errors.values.reduce(0, +) == refused, "\(report.all.errors)")
    #expect(refused < 30)
    #expect(report.answers.checked == 600 - refused)
    #expect(report.answers.wrong == 0, "\(report.answers.faults)")
    #expect(
      Set(report.kinds.keys) == [
        "hot", "cold", "absent", "batch", "check", "submit", "claim", "notify",
      ])
    // The server process is found by its socket.
    #expect(try #require(report.serverProcess).memoryBytesAfter > 1_000_000)
    #expect(report.idle?.connections == 20)
    let plot = try String(contentsOfFile: bench.bench.folder.file("plot.svg"), encoding: .utf8)
    #expect(plot.hasSuffix("</svg>\n"))
    // The customers did not change: the submissions were repeats, or of other customers.
    let again = try await bench.run("--mix", "cold=1", "--choose", "uniform", "--count", "300")
    #expect(again.exit == .code(0), "\(again.errors)")
  }

  @Test("open loop: the planned number of calls, at constant and at random intervals")
  func openLoop() async throws {
    let bench = try await LoadBench()
    _ = try await bench.prepare()
    let constant = try await bench.run(
      "--rate", "200", "--duration", "1s", "--seed", "5", "--threads", "2")
    #expect(constant.exit == .code(0), "\(constant.errors)")
    let report = try constant.document(LoadBench.Report.self)
    #expect(report.all.calls == 200)
    #expect(report.seed == 5)
    let random = try await bench.run(
      "--rate", "200", "--arrivals", "poisson", "--duration", "1s", "--seed", "5")
    let calls = try random.document(LoadBench.Report.self).all.calls
    // Five standard deviations.
    #expect((130...270).contains(calls))
  }

  @Test("1: a wrong answer, with an example")
  func wrongAnswer() async throws {
    let bench = try await LoadBench()
    _ = try await bench.prepare()
    let client = try await bench.server.client()
    // The first account: the simulator does not know of this grant.
    _ = try await client.addGrant(
      AddGrantRequest(
        scope: LoadBench.scope, accountID: "1000000000", entitlementID: "season",
        reason: "to be found", onBehalfOf: "test"))
    await client.close()
    for mix in ["hot=1", "batch=1", "check=1"] {
      let run = try await bench.run("--mix", mix, "--count", "200")
      #expect(run.exit == .code(1))
      #expect(run.errors.contains("customer 1000000000"), "\(run.errors)")
      #expect(run.errors.contains("season"), "\(run.errors)")
      #expect(try run.document(LoadBench.Report.self).answers.wrong > 0)
    }
    let unchecked = try await bench.run("--mix", "hot=1", "--count", "50", "--check", "none")
    #expect(unchecked.exit == .code(0))
    #expect(try unchecked.document(LoadBench.Report.self).answers.checked == 0)
  }

  @Test("1: unknown customers")
  func notPrepared() async throws {
    let bench = try await LoadBench()
    let run = try await bench.run("--mix", "hot=1", "--count", "20")
    #expect(run.exit == .code(1))
    #expect(run.errors.contains("is not known to the server"), "\(run.errors)")
  }

  @Test("1: a condition of --fail-if that holds is printed, and is in the report")
  func condition() async throws {
    let bench = try await LoadBench()
    _ = try await bench.prepare()
    let run = try await bench.run(
      "--mix", "absent=1", "--count", "20", "--fail-if", "calls/s<1000000000", "--fail-if",
      "errors>0")
    #expect(run.exit == .code(1))
    let report = try run.document(LoadBench.Report.self)
    #expect(report.failedConditions.count == 1)
    #expect(run.errors.contains(report.failedConditions[0]))
  }

  @Test("1: submissions that the server does not trust are wrong answers")
  func untrusted() async throws {
    let bench = try await LoadBench()
    let other = try Bench()
    let run = try await bench.run(
      "--mix", "submit=1", "--authority", other.authorityPath, "--count", "5")
    #expect(run.exit == .code(1))
    #expect(run.errors.contains("a payload was refused as untrustedChain"), "\(run.errors)")
  }

  @Test("130: an interrupted run reports its measurements", arguments: [SIGINT, SIGTERM])
  func interruption(signal: Int32) async throws {
    let bench = try await LoadBench()
    _ = try await bench.prepare()
    let child = try ChildProcess(
      .entitleLoad, bench.arguments() + ["--duration", "10m", "--progress"])
    try await child.journal.first("second of progress") { contents in
      contents.errorText.contains(/: [1-9][0-9]* calls\/s/) ? () : nil
    }
    child.signal(signal)
    #expect(try await child.exit() == .code(130))
    let report = try JSONDecoder().decode(
      LoadBench.Report.self, from: Data(child.journal.contents.output))
    #expect(report.interrupted)
    #expect(report.all.calls > 0)
    #expect(report.answers.wrong == 0)
  }

  @Test(
    "130: a run that is interrupted while connecting ends at once", arguments: [SIGINT, SIGTERM])
  func interruptionOfConnecting(signal: Int32) async throws {
    // The system accepts one connection only, since this listener accepts none.
    let listener = try SilentListener()
    let child = try ChildProcess(
      .entitleLoad, ["--server", "\(listener.address)", "--connections", "8", "--progress"])
    try await child.journal.first("seed") { $0.errorText.contains("seed ") ? () : nil }
    child.signal(signal)
    #expect(try await child.exit() == .code(130))
    #expect(child.journal.contents.errorText.hasSuffix("entitle-load: interrupted\n"))
    #expect(child.journal.contents.output.isEmpty)
  }

  @Test("69: a server that stays away, with the measurements so far")
  func lostServer() async throws {
    let bench = try await LoadBench()
    _ = try await bench.prepare()
    let child = try ChildProcess(
      .entitleLoad,
      bench.arguments() + ["--count", "1000000000", "--timeout", "200ms", "--progress"])
    try await child.journal.first("second of progress") { contents in
      contents.errorText.contains(/: [1-9][0-9]* calls\/s/) ? () : nil
    }
    bench.server.signal(SIGKILL)
    #expect(try await child.exit() == .code(69))
    let contents = child.journal.contents
    #expect(
      contents.errorText.hasSuffix(
        "entitle-load: given up: no connection to the server for 1 s\n"))
    let report = try JSONDecoder().decode(LoadBench.Report.self, from: Data(contents.output))
    #expect(report.gaveUp)
    #expect(!report.interrupted)
    #expect(report.all.calls > 0)
  }

  @Test("1: a report that cannot be written is reported first", arguments: ["output", "plot"])
  func unwritable(option: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("none/report")
    let run = try await ProgramRun.of(
      .entitleLoad, ["--server", "unix:\(folder.file("none"))", "--\(option)", path])
    #expect(run.exit == .code(1))
    #expect(
      run.errors == "entitle-load: \(path) cannot be written: No such file or directory\n")
  }

  @Test("the interval log has a line for all calls and one for each kind")
  func intervalLog() async throws {
    let bench = try await LoadBench()
    _ = try await bench.prepare()
    let run = try await bench.run(
      "--mix", "hot=1,absent=1", "--count", "100", "--format", "hdr", "--output", "/dev/stdout")
    #expect(run.exit == .code(0), "\(run.errors)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.first == "#[Histogram log format version 1.3]")
    #expect(lines.contains { $0.hasPrefix("0.000,") })
    #expect(lines.contains { $0.hasPrefix("Tag=hot,0.000,") })
    #expect(lines.contains { $0.hasPrefix("Tag=absent,0.000,") })
  }

  @Test("69: no server is listening")
  func unreachable() async throws {
    let folder = try TemporaryFolder()
    let run = try await ProgramRun.of(
      .entitleLoad, ["--server", "unix:\(folder.file("none"))", "--count", "1"])
    #expect(run.exit == .code(69))
    #expect(run.errors.contains("there is no such socket"))
  }

  @Test(
    "64: wrong usage",
    arguments: [
      (["--mix", "hot"], "--mix: \"hot\" is not KIND=WEIGHT"),
      (["--mix", "submit=1"], "submit needs an --authority"),
      (["--fail-if", "p99>5"], "--fail-if: p99 takes a number with us, ms or s"),
      (["--rate", "5", "--in-flight", "3"], "--rate is for the open loop"),
      (["--arrivals", "poisson"], "need a --rate"),
      (["--in-flight", "1025"], "--in-flight takes 1 to 1024"),
      (["--threads", "9"], "at most the number of connections"),
      (["--batch-size", "257"], "--batch-size takes 1 to 256"),
      (["--duration", "0"], "--duration takes 1ms or more"),
      (["--duration", "0.0000001"], "--duration takes 1ms or more"),
      (["--duration", "169h"], "169h"),
      (["--duration", "1e300"], "1e300"),
      (["--timeout", "0.1ms"], "--timeout takes 1ms or more"),
      (["--rate", "1e-10"], "--rate takes 0.001 to 10000000"),
      (["--rate", "1e10"], "--rate takes 0.001 to 10000000"),
      (["--rate", "nan"], "--rate takes 0.001 to 10000000"),
      (["--count", "99999999999999999999"], "99999999999999999999"),
      (["--customers", "9223372036854775807"], "--customers takes 1 to"),
      (["--at", "9223372036854775807"], "9223372036854775807"),
      (["--plot", "a", "--output", "a"], "--plot and --output name the same file"),
      (["--choose", "zipf:0"], "zipf:0"),
      (["--customers", "0"], "--customers takes 1 to"),
      (["prepare"], "either --server or --postgres"),
      (["prepare", "--server", "127.0.0.1:1"], "--server needs an --authority"),
      (["prepare", "--postgres", "mysql://a"], "--postgres takes postgresql://"),
    ])
  func usage(arguments: [String], reason: String) async throws {
    let run = try await ProgramRun.of(.entitleLoad, arguments)
    #expect(run.exit == .code(64))
    #expect(run.errors.contains(reason), "\(run.errors)")
  }
}
