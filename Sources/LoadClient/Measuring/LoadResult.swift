/// The result of a run.
struct LoadResult: Sendable {
  /// One second of the run, or the shorter rest at its end.
  struct Second: Hashable, Sendable {
    /// End, in seconds from the start of the measurement.
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
  /// Length of the measurement, in seconds.
  let length: Double
  /// Nil when the server's process is not known.
  let server: Server?
  /// Processor time of this program during the measurement, in microseconds.
  let ownProcessorTime: Double
  let isInterrupted: Bool
  /// The run was given up, because no connection could be opened any more.
  let isServerGone: Bool

  /// Calls a second, failed ones included.
  var rate: Double { length > 0 ? Double(total.all.calls) / length : 0 }

  /// Processor time of the server for each call, in microseconds; nil when not known.
  var serverTimePerCall: Double? {
    let calls = total.all.calls
    guard let server, calls > 0 else { return nil }
    return (server.after.processorTime - server.before.processorTime) / Double(calls)
  }
}
