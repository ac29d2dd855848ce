import LoadClient
import PostgresBulkLoader

/// The processor time of a PostgreSQL server on this machine: the time of all its processes,
/// including ended ones.
struct ServerProcessorTime {
  private let postmaster: Int

  /// Nil when the server runs elsewhere or its processes are not visible.
  init?(_ database: Psql) {
    let query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer';"
    guard let checkpointer = try? database.number(query),
      let process = ProcessTimes(Int(checkpointer)), process.name.hasPrefix("postgres")
    else { return nil }
    postmaster = process.parent
  }

  /// In microseconds.
  var used: Double {
    var total = ProcessTimes(postmaster).map { $0.own + $0.ended } ?? 0
    for process in ProcessTimes.all where process.parent == postmaster { total += process.own }
    return total
  }
}
