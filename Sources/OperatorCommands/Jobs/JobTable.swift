import EntitlementDomain
import Wire

/// Jobs as text for a terminal.
enum JobTable {
  /// One line each.
  ///
  /// - Parameter now: by the clock of this machine, for the time until the next attempt.
  static func text(of jobs: [JobEntry], at now: Milliseconds) -> String {
    var table = TextTable(
      header: [
        "JOB", "KIND", "APP", "CHAIN", "STATE", "REASONS", "WHEN", "FAILURES", "LAST FAILURE",
      ])
    for job in jobs {
      table.add([
        "\(job.jobID)", kind(of: job), job.scope.display,
        job.originalTransactionID?.rawValue ?? job.transactionID?.rawValue ?? "-", state(of: job),
        reasons(of: job) ?? "-",
        moment(of: job, at: now), "\(job.failures)", job.lastFailure ?? "-",
      ])
    }
    return table.text
  }

  /// One line for each property.
  static func details(of job: JobEntry) -> String {
    var lines = [
      StateTable.line("job", "\(job.jobID)"), StateTable.line("kind", kind(of: job)),
      StateTable.line("app", job.scope.display),
    ]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append(StateTable.line(name, value)) }
    }
    add("chain", job.originalTransactionID?.rawValue)
    add("transaction", job.transactionID?.rawValue)
    add("state", state(of: job) + (job.isRunning ? ", running" : ""))
    add("reasons", reasons(of: job))
    add("opened", job.openedAt.display)
    add("changed", job.changedAt.display)
    add("due", job.dueAt?.display)
    add("failures", "\(job.failures)")
    add("last failure", job.lastFailure)
    add("since", job.since?.display)
    add("complete until", job.completeUntil?.display)
    add("calls", "\(job.calls)")
    add("payloads", "\(job.payloads)")
    add("new", "\(job.added)")
    add("refused", "\(job.refused)")
    return lines.joined(separator: "\n")
  }

  /// `42 s`, `5 min`, `3 h` or `2 d`, rounded down.
  static func span(_ milliseconds: Int64) -> String {
    let seconds = max(0, milliseconds / Milliseconds.secondsLength)
    return switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7_200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3_600) h"
    default: "\(seconds / 86_400) d"
    }
  }

  /// A value that this version does not know is a dash.
  private static func kind(of job: JobEntry) -> String { job.kind.map { wireName($0) } ?? "-" }

  private static func state(of job: JobEntry) -> String { job.state.map { wireName($0) } ?? "-" }

  private static func reasons(of job: JobEntry) -> String? {
    job.reasons.isEmpty ? nil : job.reasons.map { wireName($0) }.joined(separator: ", ")
  }

  /// When an open job is attempted next, and since when another has ended.
  private static func moment(of job: JobEntry, at now: Milliseconds) -> String {
    guard job.state == .open else { return "since \(job.changedAt.display)" }
    if job.isRunning { return "running" }
    guard let due = job.dueAt, due > now else { return "due" }
    // Both moments are near in time, unless a clock is wrong.
    return "due in \(span(due.rawValue.subtractingReportingOverflow(now.rawValue).partialValue))"
  }
}
