import EntitlementDomain
import Glibc
import Programs
import RPCClient
import Wire

/// Waits until no row of an import waits, and shows the progress.
struct ImportFollower {
  let read: () async throws -> ImportEntry
  /// Waits until the next look. Throws when the task is cancelled.
  var wait: () async throws -> Void = { try await Task.sleep(for: .seconds(1)) }
  /// A monotonic clock.
  var now: () -> Duration = {
    ContinuousClock.Instant.now - start
  }
  /// Shows a line of progress.
  var report: (String) -> Void = { StandardError.write($0) }

  private static let start = ContinuousClock.Instant.now
  /// Looks over which the rate is computed.
  private static let window = 30
  /// If no row ended between so many looks, the rate of before says nothing: rows wait for their next
  /// attempts, or for the server.
  private static let pause = 5

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
        let line = Self.progress(counts, looks)
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

  static func progress(_ counts: ImportCounts, _ looks: [(at: Duration, ended: Int64)]) -> String {
    var line = "\(counts.done) done, \(counts.failed) failed, \(counts.waiting) waiting"
    guard let first = looks.first, let last = looks.last, last.at > first.at else { return line }
    let latest = looks.suffix(pause)
    if latest.count == pause, latest.first?.ended == last.ended { return line }
    let seconds = (last.at - first.at) / .seconds(1)
    let rate = Double(last.ended - first.ended) / seconds
    guard rate > 0 else { return line }
    line += rate < 10 ? "; \(Int64(rate * 60)) rows/min" : "; \(Int64(rate)) rows/s"
    let left = Double(counts.waiting) / rate
    // A rate of nearly nothing tells no time.
    if left < 1e9 { line += "; \(JobTable.span(Int64(left * 1_000))) left" }
    return line
  }
}
