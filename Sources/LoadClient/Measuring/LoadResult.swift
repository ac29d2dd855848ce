/// What a run came to.
struct LoadResult: Sendable {
  /// One second of it, or what was left at its end.
  struct Second: Hashable, Sendable {
    /// In seconds from the beginning of what is measured.
    let end: Double
    let length: Double
    let calls: Int
    let errors: Int
    /// In nanoseconds.
    let median: Double
    let p99: Double
    let maximum: Double

    var rate: Double { Double(calls) / length }
  }

  struct Server: Hashable, Sendable {
    let before: ServerProcess.Usage
    let after: ServerProcess.Usage
  }

  let total: Tally
  let seconds: [Second]
  /// Of what is measured, in seconds.
  let length: Double
  /// Nil when the server's process is not known.
  let server: Server?
  /// Of this program while it was measured, in microseconds.
  let ownProcessorTime: Double
  let isInterrupted: Bool
  /// It was given up, as no connection could be made any more.
  let isServerGone: Bool

  /// Calls a second, failed ones included.
  var rate: Double { length > 0 ? Double(total.all.calls) / length : 0 }

  /// The server's, in microseconds for each call; nil when it is not known.
  var serverTimePerCall: Double? {
    let calls = total.all.calls
    guard let server, calls > 0 else { return nil }
    return (server.after.processorTime - server.before.processorTime) / Double(calls)
  }
}
