import ArgumentParser
import EntitlementDomain
import Framing
import Programs
import RPCClient
import Testing
import Wire

@testable import OperatorCommands

@Suite("The commands of jobs")
struct JobCommandTests {
  // 2026-01-02 03:04:05Z.
  private static let now: Milliseconds = 1_767_323_045_000
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .sandbox)

  private static func job(
    _ id: Int64, _ state: JobState? = .open, due: Milliseconds? = nil, isRunning: Bool = false,
    calls: Int64 = 0, failure: String? = nil
  ) -> JobEntry {
    JobEntry(
      jobID: id, kind: .reconciliation, scope: scope, state: state,
      openedAt: now.advanced(by: -65_000), changedAt: now, dueAt: due, isRunning: isRunning,
      failures: failure == nil ? 0 : 2, lastFailure: failure, since: 1_767_225_600_000,
      completeUntil: now.advanced(by: -60_000), calls: calls, payloads: 20 * calls,
      added: calls / 2, refused: 1)
  }

  @Test func `a table has a line for each job, and says when it is attempted or has ended`() {
    var refetch = Self.job(
      1, due: Self.now.advanced(by: 35_000), failure: "the token\u{1b} expired")
    refetch.kind = .refetch
    refetch.originalTransactionID = "2000000001"
    refetch.reasons = [.successorMissing, .renewalOverdue]
    let text = JobTable.text(
      of: [
        refetch, Self.job(2, isRunning: true), Self.job(3, due: Self.now), Self.job(4, .done),
        Self.job(5, nil),
      ], at: Self.now)
    #expect(
      text == """
        JOB  KIND            APP                           CHAIN       STATE  REASONS                             WHEN                        FAILURES  LAST FAILURE
        1    REFETCH         com.example.scribe (Sandbox)  2000000001  OPEN   SUCCESSOR_MISSING, RENEWAL_OVERDUE  due in 35 s                 2         the token\\u{1b} expired
        2    RECONCILIATION  com.example.scribe (Sandbox)  -           OPEN   -                                   running                     0         -
        3    RECONCILIATION  com.example.scribe (Sandbox)  -           OPEN   -                                   due                         0         -
        4    RECONCILIATION  com.example.scribe (Sandbox)  -           DONE   -                                   since 2026-01-02 03:04:05Z  0         -
        5    RECONCILIATION  com.example.scribe (Sandbox)  -           -      -                                   since 2026-01-02 03:04:05Z  0         -
        """)
  }

  @Test func `one job has a line for each property that it has`() {
    #expect(
      JobTable.details(of: Self.job(7, isRunning: true, calls: 4)) == """
        job             7
        kind            RECONCILIATION
        app             com.example.scribe (Sandbox)
        state           OPEN, running
        opened          2026-01-02 03:03:00Z
        changed         2026-01-02 03:04:05Z
        failures        0
        since           2026-01-01 00:00:00Z
        complete until  2026-01-02 03:03:05Z
        calls           4
        payloads        80
        new             2
        refused         1
        """)
  }

  @Test(
    "A span of time has its largest unit that leaves a number of two digits",
    arguments: [
      (0, "0 s"), (119_999, "119 s"), (120_000, "2 min"), (7_199_999, "119 min"),
      (7_200_000, "2 h"), (172_800_000, "2 d"), (-1, "0 s"),
    ])
  func spans(milliseconds: Int64, text: String) {
    #expect(JobTable.span(milliseconds) == text)
  }

  @Test(
    "A past moment is RFC 3339, a day, milliseconds, or how long ago",
    arguments: [
      ("2026-01-01", 1_767_225_600_000), ("2026-01-01T01:00:00+01:00", 1_767_225_600_000),
      ("1767225600000", 1_767_225_600_000), ("90m", 1_767_317_645_000),
      ("36h", 1_767_193_445_000), ("7d", 1_766_718_245_000), ("2w", 1_766_113_445_000),
    ])
  func pastMoments(text: String, moment: Int64) throws {
    #expect(
      try #require(PastMoment(argument: text)).moment(from: Self.now) == Milliseconds(moment))
  }

  @Test(
    "What is no past moment is refused",
    arguments: [
      "", "yesterday", "36", "7", "-7d", "+7d", "0h", "d", "7y", "1.5h", "2026-02-30",
      "2026-01-01T01:00:00", "9223372036854775807w", "99999999d", "7 d",
    ])
  func wrongMoments(text: String) {
    #expect(PastMoment(argument: text) == nil)
  }

  @Test(
    "Arguments that cannot be meant are refused",
    arguments: [
      ["list", "--limit", "0"], ["list", "--limit", "3", "--all"], ["list", "--chain", ""],
      ["list", "--app", ""], ["list", "--app", "com.example.scribe", "--all-apps"],
      ["list", "--state", "givenup"], ["list", "--kind", "fetch"], ["show", "0"], ["show"],
      ["retry"], ["retry", "-1"], ["retry", "x"], ["retry", "1", "--reason", ""],
      ["cancel", "1", "--on-behalf-of", ""], ["retry"] + (1...1_001).map { "\($0)" },
    ])
  func refused(arguments: [String]) {
    #expect(throws: (any Error).self) { try JobCommand.parseAsRoot(arguments) }
  }

  @Test(
    "A reconciliation needs a past time",
    arguments: [
      [], ["--since", "tomorrow"], ["--since", "2999-01-01"], ["--app", "", "--since", "1d"],
    ])
  func refusedReconciliation(arguments: [String]) {
    #expect(throws: (any Error).self) { try ReconcileCommand.parse(arguments) }
  }

  @Test func `an app is named by either option`() throws {
    for option in ["--app", "--bundle-id"] {
      #expect(try JobListCommand.parse([option, "com.example.scribe"]).app == "com.example.scribe")
      #expect(
        try ReconcileCommand.parse([option, "com.example.scribe", "--since", "1d"]).app
          == "com.example.scribe")
    }
  }
}

@Suite("Waiting for a job")
struct JobFollowerTests {
  private static func job(
    _ state: JobState, calls: Int64 = 0, failure: String? = nil, failures: Int = 1
  ) -> JobEntry {
    JobEntry(
      jobID: 7, kind: .reconciliation, scope: AppScope(bundleID: "b", environment: .sandbox),
      state: state, openedAt: 1_767_323_045_000, changedAt: 1_767_323_048_000,
      failures: failure == nil ? 0 : failures, lastFailure: failure, since: 1_767_225_600_000,
      completeUntil: state == .done ? 1_767_323_040_000 : nil, calls: calls, payloads: 20 * calls,
      added: calls / 2, refused: 1)
  }

  /// Gives the answers in turn, and notes the lines of progress.
  private final class Script {
    var answers: [Result<JobEntry?, any Error>]
    var lines: [String] = []
    var waits = 0
    /// Thrown by this wait, counted from 1.
    var endsAt: (wait: Int, error: any Error)?

    init(_ answers: [Result<JobEntry?, any Error>]) {
      self.answers = answers
    }

    func follow(_ job: JobEntry) async throws -> JobEntry {
      try await JobFollower(
        read: { [self] id in
          #expect(id == 7)
          return try answers.removeFirst().get()
        },
        wait: { [self] in
          waits += 1
          if let endsAt, endsAt.wait == waits { throw endsAt.error }
        }, report: { [self] in lines.append($0) }
      ).follow(job)
    }
  }

  @Test func `progress is told when it changes, until the job has ended`() async throws {
    let script = Script([
      .success(Self.job(.open)), .success(Self.job(.open, calls: 2)),
      .success(Self.job(.open, calls: 2, failure: "the App Store\u{1b} is unavailable")),
      .success(Self.job(.open, calls: 2, failure: "no key", failures: 0)),
      .success(Self.job(.done, calls: 4)),
    ])
    #expect(try await script.follow(Self.job(.open)) == Self.job(.done, calls: 4))
    #expect(script.waits == 5)
    #expect(
      script.lines == [
        "job 7: 0 calls, 0 notifications, 0 new", "job 7: 2 calls, 40 notifications, 1 new",
        "job 7: 2 calls, 40 notifications, 1 new; failed attempts: 1; waits: "
          + "the App Store\\u{1b} is unavailable",
        "job 7: 2 calls, 40 notifications, 1 new; waits: no key",
      ])
  }

  @Test func `a job that has ended is not waited for`() async throws {
    let script = Script([])
    #expect(try await script.follow(Self.job(.cancelled)).state == .cancelled)
    #expect(script.waits == 0)
  }

  @Test func `an interruption and a lost server say that the job goes on`() async throws {
    func failure(of script: Script) async -> CommandFailure? {
      await #expect(throws: CommandFailure.self) { try await script.follow(Self.job(.open)) }
    }
    let goesOn = "job 7 goes on in the server: entitlectl job show 7"
    let interrupted = Script([.success(Self.job(.open))])
    interrupted.endsAt = (2, CancellationError())
    let stopped = await failure(of: interrupted)
    #expect(stopped?.reason == .failed)
    #expect(stopped?.message == "stopped waiting; \(goesOn)")

    let lost = await failure(
      of: Script([.failure(RPCClientError(.connectionClosed, "the connection is closed"))]))
    #expect(lost?.reason == .unreachable)
    #expect(lost?.message?.hasSuffix("\n" + goesOn) == true)

    let gone = await failure(of: Script([.success(nil)]))
    #expect(gone?.reason == .refused)
  }

  @Test(
    "The exit code says how it ended",
    arguments: [
      (JobState.done, nil), (.cancelled, "job 7 was cancelled"),
      (.givenUp, "job 7 was given up: no key"),
    ] as [(JobState, String?)])
  func exit(state: JobState, message: String?) {
    let failure = ReconciliationSummary(job: Self.job(state, failure: "no key")).failure
    #expect(failure?.message == message)
    #expect(failure?.reason == (message == nil ? nil : .failed))
  }

  @Test func `a summary has what was asked for, what came, and the time that it took`() throws {
    let done = ReconciliationSummary(job: Self.job(.done, calls: 4))
    #expect(
      done.text == """
        job             7
        app             b (Sandbox)
        state           DONE
        since           2026-01-01 00:00:00Z
        until           2026-01-02 03:04:00Z
        calls           4
        notifications   80
        new             2
        refused         1
        time            3 s
        """)
    guard case .object(let members) = try done.document else {
      Issue.record("no object")
      return
    }
    #expect(
      members.keys.sorted() == [
        "added", "bundleId", "calls", "changedAtMs", "completeUntilMs", "environment", "jobId",
        "kind", "openedAtMs", "payloads", "refused", "sinceMs", "state", "takenMs",
      ])
    guard case .text("3000") = members["takenMs"] else {
      Issue.record("not in milliseconds, as a text")
      return
    }
  }
}
