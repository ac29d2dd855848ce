import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct JobCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "job",
    abstract: "Jobs of the App Store Server API: what the server fetches itself.",
    discussion: """
      A refetch asks the App Store about the customer of a chain whose facts are incomplete. A \
      reconciliation asks for the notifications of an app, and stores those that did not arrive. \
      The third kind tells the App Store about consumption: see entitlectl consumption. A job that fails is attempted again; after too many failures it is given up, and the change feed \
      has an event.
      """,
    subcommands: [
      JobListCommand.self, JobShowCommand.self, JobRetryCommand.self, JobCancelCommand.self,
    ])
}

struct JobListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists jobs, in the order of their ids.",
    discussion: """
      WHEN is the next attempt of an open job, and the end of another. A caller that may not use \
      all apps has to name an app and an environment, unless it may use only one app. With --output \
      jsonl, jobs are printed as they arrive.
      """)

  @Option(
    name: [.customLong("app"), .customLong("bundle-id")],
    help: "Only this app. Default: the context's, else all apps.")
  var app: String?

  @Option(help: "Only this environment: \(EnvironmentName.list). Default: the context's, else all.")
  var environment: EnvironmentName?

  @Flag(help: "All apps, whatever the context says.")
  var allApps = false

  @Option(help: "Only this state: \(JobStateName.list). Default: all.")
  var state: JobStateName?

  @Option(help: "Only this kind: refetch, reconciliation or consumption. Default: all.")
  var kind: JobKindName?

  @Option(help: "Only the job of this chain, by its original transaction id.")
  var chain: String?

  @Option(help: "Maximum number of jobs to print. Default: 100.")
  var limit: Int?

  @Flag(help: "Print all jobs.")
  var all = false

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
    if all, limit != nil { throw ValidationError("--limit and --all exclude each other") }
    if allApps, app != nil { throw ValidationError("--app and --all-apps exclude each other") }
    for (name, text) in [("--app", app), ("--chain", chain)] where text == "" {
      throw ValidationError("\(name) is empty")
    }
  }

  func run() async throws {
    let (bundleID, environment) = try await AppOptions.filter(
      app, environment, allApps: allApps, on: server)
    let count = all ? Int.max : limit ?? ListJobsRequest.defaultPageSize
    let request = ListJobsRequest(
      bundleID: bundleID, environment: environment, state: state?.state, kind: kind?.kind,
      originalTransactionID: chain.map { OriginalTransactionID($0) },
      pageSize: min(count, ListJobsRequest.largestPageSize))
    let jobs = try await server.withClient { client in
      var jobs: [JobEntry] = []
      var printed = 0
      for try await job in client.jobs(request) {
        if output.output == .jsonl {
          try output.write(job) { _ in "" }
        } else {
          jobs.append(job)
        }
        printed += 1
        if printed == count { break }
      }
      return jobs
    }
    if output.output != .jsonl { try output.write(jobs) { JobTable.text(of: $0, at: .now) } }
  }
}

struct JobShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows one job.",
    discussion: "Exit code 2 when there is no such job.")

  @Argument(help: "The job's id.")
  var id: Int64

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    try JobIDs.check([id])
  }

  func run() async throws {
    guard let job = try await server.withClient({ try await $0.job(id) }) else {
      throw CommandFailure(.refused, "job \(id) is not known")
    }
    try output.write(job) { JobTable.details(of: $0) }
  }
}

struct JobRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Does jobs again that have ended or were given up.",
    discussion: """
      A job that waits for its next attempt is attempted at once. One that a server is doing does \
      not change. With several jobs, those that are not known or refused do not stop the others. \
      Exit code 2 when there is no such job, and when the server has no key of the App Store Server \
      API for its app.
      """)

  @Argument(help: "The jobs' ids.")
  var ids: [Int64]

  @OptionGroup var audit: JobAuditOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    try JobIDs.check(ids)
  }

  func run() async throws {
    try await JobIDs.change(ids, on: server, output, unchanged: "a server is doing it") {
      try await $0.retryJob(
        RetryJobRequest(jobID: $1, onBehalfOf: audit.onBehalfOf, reason: audit.reason))
    }
  }
}

struct JobCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Ends jobs that are to be done.",
    discussion: """
      Asks for confirmation; --yes skips the question. What a server is fetching at the moment may \
      still be stored. A notification that asks for the job later opens it again. A job that has \
      ended does not change. With several jobs, those that are not known do not stop the others. \
      Exit code 2 when there is no such job.
      """)

  @Argument(help: "The jobs' ids.")
  var ids: [Int64]

  @OptionGroup var audit: JobAuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    try JobIDs.check(ids)
  }

  func run() async throws {
    try confirmation.confirm(
      ids.count == 1 ? "Cancel job \(ids[0])?" : "Cancel \(ids.count) jobs?")
    try await JobIDs.change(ids, on: server, output, unchanged: "it had ended before") {
      try await $0.cancelJob(
        CancelJobRequest(jobID: $1, onBehalfOf: audit.onBehalfOf, reason: audit.reason))
    }
  }
}

/// The reason of a change of a job, and for whom it is made. Both are optional: a job changes nothing
/// that a customer has.
struct JobAuditOptions: ParsableArguments {
  @Option(help: "Reason, for the audit trail.")
  var reason: String?

  @OptionGroup var onBehalfOfOption: OnBehalfOfOption

  var onBehalfOf: String? { onBehalfOfOption.name }

  func validate() throws {
    if reason == "" { throw ValidationError("--reason is empty") }
  }
}

/// Changes of the jobs that a command line names.
enum JobIDs {
  /// On one command line.
  private static let maximum = 1_000

  static func check(_ ids: [Int64]) throws {
    if ids.contains(where: { $0 < 1 }) { throw ValidationError("the id of a job is at least 1") }
    if ids.count > maximum { throw ValidationError("more than \(maximum) jobs are named") }
  }

  /// Makes one call for each job, and prints the jobs after the calls. A job that is refused does not
  /// stop the others; any other failure does. What was changed is printed in each case.
  ///
  /// - Parameter unchanged: why a job did not change.
  /// - Throws: the failure that stopped the calls, or ``CommandFailure`` with the reason `refused`.
  static func change(
    _ ids: [Int64], on server: ServerOptions, _ output: OutputOptions, unchanged: String,
    by call: (EntitlementClient, Int64) async throws -> JobResponse
  ) async throws {
    var jobs: [JobEntry] = []
    var refusals: [CommandFailure] = []
    let failure = try await server.failure { client in
      for id in ids {
        do {
          let response = try await call(client, id)
          jobs.append(response.job)
          if !response.isChanged {
            StandardError.write("job \(id): nothing changed: \(unchanged)")
          }
        } catch let error as RPCClientError {
          let refusal = CommandFailure(error)
          guard refusal.reason == .refused else { throw error }
          refusals.append(CommandFailure(.refused, "job \(id): \(refusal.message ?? "")"))
        }
      }
    }
    if !jobs.isEmpty { try output.write(jobs) { JobTable.text(of: $0, at: .now) } }
    if let failure {
      for refusal in refusals { refusal.report() }
      throw failure
    }
    for refusal in refusals.dropLast() { refusal.report() }
    if let last = refusals.last { throw last }
  }
}

/// The name of a state on the command line.
enum JobStateName: String, ExpressibleByArgument, CaseIterable {
  case open
  case done
  case givenUp = "given-up"
  case cancelled

  /// For help.
  static let list = "open, done, given-up or cancelled"

  var state: JobState {
    switch self {
    case .open: .open
    case .done: .done
    case .givenUp: .givenUp
    case .cancelled: .cancelled
    }
  }
}

/// The name of a kind on the command line.
enum JobKindName: String, ExpressibleByArgument, CaseIterable {
  case refetch
  case reconciliation
  case consumption

  var kind: JobKind {
    switch self {
    case .refetch: .refetch
    case .reconciliation: .reconciliation
    case .consumption: .consumption
    }
  }
}
