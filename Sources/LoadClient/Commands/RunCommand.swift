import ArgumentParser
import ClientOptions
import Framing
import Glibc
import Programs
import RPCClient
import StoreSimulator
import Wire

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Make calls, measure them, and check the answers.",
    discussion: """
      Closed loop: --connections times --in-flight calls are in flight; a slow server gets fewer \
      calls. Open loop, with --rate: a fixed number of calls a second; a slow call delays later \
      calls, and their delay counts as latency.

      Kinds of calls: hot (a chosen customer, from the server's cache), cold (any customer, from \
      the store), absent (an unknown account), batch, check; and with --authority submit (a first \
      purchase of a new customer), claim (a chosen customer submits all its payloads again) and \
      notify.
      """)

  @Option(help: "Server: HOST:PORT, tls:HOST:PORT or unix:PATH.")
  var server = ServerArgument(argument: "127.0.0.1:7100")!

  @OptionGroup var tls: TLSOptions
  @OptionGroup var token: TokenOptions

  @Option(help: "Kinds of calls by weight: KIND=WEIGHT, separated by commas.")
  var mix = "hot=80,cold=15,absent=5"

  @Option(help: "How customers are chosen: zipf, zipf:EXPONENT or uniform.")
  var choose = CustomerChoice.usual

  @Option(help: "Customers in a batch, from 1 to 256.")
  var batchSize = 20

  @OptionGroup var population: PopulationOptions
  @OptionGroup var shape: ShapeOptions

  @Option(
    help: ArgumentHelp(
      "The signing authority for submit, claim and notify, as `storesim authority` makes it.",
      valueName: "directory"))
  var authority: String?

  @Option(help: "Which answers are compared with the simulator: all, sampled or none.")
  var check = AnswerChecker.Extent.all

  @Option(help: "The same seed chooses the same calls. Default: a random seed.")
  var seed: UInt64?

  @Option(help: "Open connections without calls, in addition to the load.")
  var idleConnections = 0

  @Option(help: "The server's process, if it cannot be found by its socket.")
  var serverPid: Int?

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (1...BatchGetCustomerStateRequest.maximumCustomers).contains(batchSize) else {
      throw ValidationError(
        "--batch-size takes 1 to \(BatchGetCustomerStateRequest.maximumCustomers)")
    }
    guard (0...1_000_000).contains(idleConnections) else {
      throw ValidationError("--idle-connections takes 0 to 1000000")
    }
    _ = try tls.address(server.address)
    let kinds = try calls().kinds.filter(\.isSigned)
    guard authority != nil || kinds.isEmpty else {
      throw ValidationError("\(kinds[0].name) needs an --authority that the server trusts")
    }
  }

  private func calls() throws -> CallMix {
    do throws(CallMix.ParseError) {
      return try CallMix(parsing: mix)
    } catch {
      throw ValidationError("--mix: \(error)")
    }
  }

  func run() async throws {
    let output = try ReportFile(report.output)
    let drawing = try report.plot.map { path throws(CommandFailure) in try ReportFile(path) }
    let plan = try plan()
    let conditions = try report.conditions()
    let target = try target()
    let finished = try await CommandFailure.wrapping {
      try IdleConnections.allow(plan.connections + idleConnections)
      let process = try serverProcess()
      let load = LoadRun(
        plan, to: target, server: process,
        observer: RunObserver(writeProgress: report.writeProgress, log: log(to: output)))
      let interruption = Interruption(by: [SIGINT, SIGTERM]) {
        if !load.interrupt() { Self.endWithoutReport() }
      }
      report.writeProgress?("seed \(plan.calls.seed)")
      let idle = try await openIdle(process, target)
      let result = try await load.run()
      interruption.end()
      let closed = idle?.closedCount ?? 0
      await idle?.close()
      guard closed == 0 else {
        throw CommandFailure(
          .failed, "the server closed \(closed) of \(idleConnections) idle connections")
      }
      return LoadReport(
        plan: plan, server: "\(target.address)", result: result, idle: idle?.figures,
        violations: conditions.compactMap { $0.violation(by: result) })
    }
    if let text = try finished.text(as: report.format) { try output.write(text) }
    try drawing?.write(LoadPlot(report: finished).svg)
    try judge(finished)
  }

  /// Ends the process while connections are being opened: that can take long, and there are no
  /// results yet. Skips an orderly exit, which would free resources that other threads still use.
  private static func endWithoutReport() -> Never {
    StandardError.write("entitle-load: interrupted")
    _exit(CommandFailure.Reason.interrupted.exitCode)
  }

  private func target() throws -> RPCTarget {
    let address = try tls.address(server.address)
    return RPCTarget(address, tls: tls.settings, token: try token.token(for: address))
  }

  private func log(to file: ReportFile) -> IntervalLog? {
    report.format == .hdr ? IntervalLog { try file.write($0) } : nil
  }

  private func plan() throws -> RunPlan {
    let signer: SigningAuthority?
    do throws(SimulatorError) {
      signer = try authority.map { path throws(SimulatorError) in
        try SigningAuthority.load(fromDirectory: path)
      }
    } catch {
      throw CommandFailure(.failed, "--authority: \(error)")
    }
    let calls = CallPlan(
      customers: try population.make(), mix: try calls(), choice: choose, batchSize: batchSize,
      timeout: shape.timeout.duration, authority: signer,
      seed: seed ?? UInt64.random(in: 0...UInt64(UInt32.max)), threads: shape.threads)
    return RunPlan(
      calls: calls, shape: shape.shape, connections: shape.connections, checks: check,
      warmUp: shape.warmUp.duration, duration: shape.measuredDuration, count: shape.count)
  }

  private func serverProcess() throws -> ServerProcess? {
    guard let serverPid else { return ServerProcess(listeningOn: server.address) }
    guard let process = ServerProcess(identifier: serverPid) else {
      throw CommandFailure(.failed, "--server-pid: there is no process \(serverPid) here")
    }
    return process
  }

  private func openIdle(
    _ process: ServerProcess?, _ target: RPCTarget
  ) async throws -> IdleConnections? {
    guard idleConnections > 0 else { return nil }
    report.writeProgress?("opening \(idleConnections) idle connections")
    return try await IdleConnections(idleConnections, to: target, server: process)
  }

  /// - Throws: ``CommandFailure`` when the run failed.
  private func judge(_ report: LoadReport) throws(CommandFailure) {
    let tally = report.result.total
    if report.result.isInterrupted { throw CommandFailure(.interrupted, "interrupted") }
    if let fault = tally.faults.first {
      throw CommandFailure(.failed, "\(tally.wrong) wrong answers, the first: \(fault)")
    }
    if report.result.isServerGone {
      let timeout = report.plan.reconnectTimeout.shortText
      throw CommandFailure(.unreachable, "given up: no connection to the server for \(timeout)")
    }
    if let violation = report.violations.first { throw CommandFailure(.failed, violation) }
    if tally.all.answered == 0 { throw CommandFailure(.failed, "no call was answered") }
  }
}

extension AnswerChecker.Extent: ExpressibleByArgument {}
