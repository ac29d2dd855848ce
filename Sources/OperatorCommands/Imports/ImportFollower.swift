import EntitlementDomain
import Glibc
import Programs
import RPCClient
import Wire

/// Waits until no row of an import waits, and shows the progress.
struct ImportFollower {
  let read: () async throws -> ImportEntry
  /// The rows that wait. Asked for when they are few: see ``fewRows``.
  let readWaiting: () async throws -> [ImportRowEntry]
  /// Waits until the next look. Throws when the task is cancelled.
  var wait: () async throws -> Void = { try await Task.sleep(for: .seconds(1)) }
  /// A monotonic clock.
  var now: () -> Duration = {
    ContinuousClock.Instant.now - start
  }
  /// The time of day, which moments of rows are compared with.
  var date: () -> Milliseconds = { .now }
  /// Shows a line of progress.
  var report: (String) -> Void = { StandardError.write($0) }

  private static let start = ContinuousClock.Instant.now
  /// Looks over which the rate is computed.
  private static let window = 30
  /// If no row ended between so many looks, the rate of before says nothing: rows wait for their next
  /// attempts, or for the server.
  private static let pause = 5
  /// While at most so many rows wait, it is looked at when they are tried again: the rate says nothing
  /// of the ones that the App Store did not know at their first attempts. One page of rows.
  static let fewRows = 100

  /// Runs `body`, and cancels it at SIGINT and SIGTERM.
  static func following<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let waiting = Task { try await body() }
    let interruption = Interruption(by: [SIGINT, SIGTERM]) { waiting.cancel() }
    defer { interruption.end() }
    return try await waiting.value
  }

  /// - Returns: the import, when no row waits.
  /// - Throws: ``CommandFailure``, whose message says that the import goes on in the server, when the task
  ///   is cancelled, or the server cannot be asked.
  func follow(_ id: String) async throws -> ImportEntry {
    let goesOn = "the import goes on in the server: entitlectl import status \(id) --wait"
    var looks: [(at: Duration, ended: Int64)] = []
    var shown: String?
    do {
      while true {
        let entry = try await read()
        let counts = ImportCounts(entry)
        looks = looks.suffix(Self.window - 1) + [(now(), counts.all - counts.waiting)]
        if counts.waiting == 0 { return entry }
        let rows = counts.waiting <= Self.fewRows ? try await readWaiting() : []
        let line = Self.progress(counts, looks, Delayed(rows, at: date()))
        if line != shown { report("import \(id): \(line)") }
        shown = line
        try await wait()
      }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      // Whatever ended the waiting, a cancelled call too.
      if Task.isCancelled || error is CancellationError {
        throw CommandFailure(.failed, "stopped waiting; \(goesOn)")
      }
      guard let error = error as? RPCClientError else { throw error }
      let failure = CommandFailure(error)
      if failure.reason == .refused { throw failure }
      throw CommandFailure(failure.reason, "\(failure.message ?? "")\n\(goesOn)")
    }
  }

  /// Rows that an attempt left waiting for a later one.
  struct Delayed {
    let count: Int64
    /// The row that is tried first.
    let first: ImportRowEntry?

    init(_ waiting: [ImportRowEntry], at now: Milliseconds) {
      let rows = waiting.filter { $0.detail != nil && ($0.dueAt ?? now) > now }
      count = Int64(rows.count)
      first = rows.min { ($0.dueAt ?? now) < ($1.dueAt ?? now) }
    }
  }

  /// A line of progress: the rate and the time that is left; or, if all rows that wait are delayed, until
  /// when and why.
  static func progress(
    _ counts: ImportCounts, _ looks: [(at: Duration, ended: Int64)], _ delayed: Delayed
  ) -> String {
    var line = "\(counts.done) done, \(counts.failed) failed, \(counts.waiting) waiting"
    let ready = counts.waiting - delayed.count
    if ready <= 0, let row = delayed.first, let due = row.dueAt {
      let detail = row.detail.map { ": \(TerminalText.escaped($0))" } ?? ""
      return line + "; tried again by \(due.display): row \(row.row)\(detail)"
    }
    guard let first = looks.first, let last = looks.last, last.at > first.at else { return line }
    let latest = looks.suffix(pause)
    if latest.count == pause, latest.first?.ended == last.ended { return line }
    let seconds = (last.at - first.at) / .seconds(1)
    let rate = Double(last.ended - first.ended) / seconds
    guard rate > 0 else { return line }
    line += rate < 10 ? "; \(Int64(rate * 60)) rows/min" : "; \(Int64(rate)) rows/s"
    let left = Double(ready) / rate
    // A rate of nearly nothing tells no time.
    if left < 1e9 { line += "; \(JobTable.span(Int64(left * 1_000))) left" }
    return line
  }
}

extension EntitlementClient {
  /// Follows an import on this server.
  func follow(_ importID: String, of app: BundleID) async throws -> ImportEntry {
    let asked = GetImportRequest(importID: importID, bundleID: app)
    let waiting = ListImportRowsRequest(
      importID: importID, state: .waiting, pageSize: ImportFollower.fewRows, bundleID: app)
    return try await ImportFollower(
      read: { try await self.getImport(asked).accountImport },
      readWaiting: { try await self.listImportRows(waiting).rows }
    ).follow(importID)
  }
}
