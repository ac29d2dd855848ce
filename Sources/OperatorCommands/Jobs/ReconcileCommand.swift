import ArgumentParser
import EntitlementDomain
import Glibc
import Programs
import RPCClient
import Wire

struct ReconcileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reconcile",
    abstract:
      "Asks the App Store for the notifications of an app, and stores those that are missing.",
    discussion: """
      The server does the work as a job, which this command starts and waits for; stderr shows its \
      progress. If one is open already, it asks from the earlier of both times on. Apple keeps \
      notifications for 180 days, in Sandbox for 30: an earlier --since means that time. Exit code \
      0 when it is done, 1 when it was given up or cancelled, 2 when the server has no key of the \
      App Store Server API for the app. SIGINT and SIGTERM end the waiting with exit code 1, and \
      the job goes on in the server: see entitlectl job.
      """)

  @Option(
    name: [.customLong("app"), .customLong("bundle-id")],
    help: "The app. Default: the context's, else the only one that the server lets the caller use.")
  var app: String?

  @Option(help: "production or sandbox. Default: the context's, else production.")
  var environment: EnvironmentName?

  @Option(help: ArgumentHelp("From this time on: \(PastMoment.forms).", valueName: "time"))
  var since: PastMoment

  @Flag(help: "Print the job, and do not wait for its end.")
  var noWait = false

  @OptionGroup var audit: JobAuditOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if app == "" { throw ValidationError("--app is empty") }
    // The server refuses it too, by its own clock.
    if case .at(let moment) = since, moment > .now {
      throw ValidationError("--since is in the future")
    }
  }

  func run() async throws {
    let scope = try await AppOptions.scope(app, environment, on: server)
    let request = ReconcileNotificationsRequest(
      scope: scope, since: since.moment(from: .now), onBehalfOf: audit.onBehalfOf,
      reason: audit.reason)
    if noWait {
      let job = try await server.withClient { try await $0.reconcileNotifications(request).job }
      return try output.write(job) { JobTable.details(of: $0) }
    }
    let waiting = Task { [server] in try await Self.reconcile(request, on: server) }
    let interruption = Interruption(by: [SIGINT, SIGTERM]) { waiting.cancel() }
    defer { interruption.end() }
    let summary = ReconciliationSummary(job: try await waiting.value)
    try output.write(document: try summary.document) { _ in summary.text }
    if let failure = summary.failure { throw failure }
  }

  /// - Returns: the job when it has ended.
  private static func reconcile(
    _ request: ReconcileNotificationsRequest, on server: ServerOptions
  ) async throws -> JobEntry {
    try await server.withClient { client in
      let job = try await client.reconcileNotifications(request).job
      let follower = JobFollower(
        read: { try await client.job($0) }, wait: { try await Task.sleep(for: .seconds(1)) },
        report: { StandardError.write($0) })
      return try await follower.follow(job)
    }
  }
}

/// Waits for the end of a job.
struct JobFollower {
  /// Reads the job; nil when it is gone.
  let read: (Int64) async throws -> JobEntry?
  /// Waits until the next look. Throws when the task is cancelled.
  let wait: () async throws -> Void
  /// Shows a line of progress.
  let report: (String) -> Void

  /// - Returns: the job when it is not open any more.
  /// - Throws: ``CommandFailure``, whose message says that the job goes on in the server, when the
  ///   task is cancelled, or the server cannot be asked.
  func follow(_ job: JobEntry) async throws -> JobEntry {
    let goesOn = "job \(job.jobID) goes on in the server: entitlectl job show \(job.jobID)"
    var job = job
    var shown: String?
    do {
      while job.state == .open {
        let line = Self.progress(of: job)
        if line != shown { report("job \(job.jobID): \(TerminalText.escaped(line))") }
        shown = line
        try await wait()
        guard let next = try await read(job.jobID) else {
          throw CommandFailure(.refused, "job \(job.jobID) is not known any more")
        }
        job = next
      }
      return job
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      // Whatever ended the waiting, a cancelled call too.
      if Task.isCancelled || error is CancellationError {
        throw CommandFailure(.failed, "stopped waiting; \(goesOn)")
      }
      guard let error = error as? RPCClientError else { throw error }
      let failure = CommandFailure(error)
      throw CommandFailure(failure.reason, "\(failure.message ?? "")\n\(goesOn)")
    }
  }

  static func progress(of job: JobEntry) -> String {
    var line = "\(job.calls) calls, \(job.payloads) notifications, \(job.added) new"
    if job.failures > 0 { line += "; failed attempts: \(job.failures)" }
    if let failure = job.lastFailure {
      line += "; waits: \(failure)"
      if let due = job.dueAt { line += "; goes on at \(due.display)" }
    }
    return line
  }
}

/// What a reconciliation did.
struct ReconciliationSummary {
  let job: JobEntry

  /// From its opening to its end, in milliseconds.
  private var taken: Int64 {
    max(0, job.changedAt.rawValue.subtractingReportingOverflow(job.openedAt.rawValue).partialValue)
  }

  /// The members of the job, and a member `takenMs`.
  var document: JSONValue {
    get throws {
      let document = try JSONValue(job)
      guard case .object(var members) = document else { return document }
      members["takenMs"] = .text("\(taken)")
      return .object(members)
    }
  }

  var text: String {
    var lines = [
      StateTable.line("job", "\(job.jobID)"), StateTable.line("app", job.scope.display),
      StateTable.line("state", job.state.map { wireName($0) } ?? "-"),
    ]
    if let since = job.since { lines.append(StateTable.line("since", since.display)) }
    if job.state == .done, let until = job.completeUntil {
      lines.append(StateTable.line("until", until.display))
    }
    lines += [
      StateTable.line("calls", "\(job.calls)"),
      StateTable.line("notifications", "\(job.payloads)"),
      StateTable.line("new", "\(job.added)"), StateTable.line("refused", "\(job.refused)"),
      StateTable.line("time", JobTable.span(taken)),
    ]
    return lines.joined(separator: "\n")
  }

  /// Nil when it is done.
  var failure: CommandFailure? {
    let name = "job \(job.jobID)"
    switch job.state {
    case .done: return nil
    case .cancelled: return CommandFailure(.failed, "\(name) was cancelled")
    case .givenUp:
      return CommandFailure(.failed, "\(name) was given up: \(job.lastFailure ?? "-")")
    case .open, nil: return CommandFailure(.failed, "\(name) has an unexpected state")
    }
  }
}
