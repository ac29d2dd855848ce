import Foundation
import Glibc

/// Transactions of other users of the database server that take an id and write nothing. After a
/// crash the server assigns such ids again, so a seen transaction id proves nothing.
struct TransactionNoise: Sendable {
  let pair: DatabasePair
  let folder: String

  func run() async {
    let script = folder + "/noise.sql"
    let sql = "SELECT pg_current_xact_id() \\watch 0.05\n"
    guard (try? sql.write(toFile: script, atomically: true, encoding: .utf8)) != nil else { return }
    while !Task.isCancelled {
      let process = try? LocalProcess(
        [
          "psql", "-XAtq", "-h", "127.0.0.1", "-p", "\(pair.primary.port)", "-U",
          DatabasePrograms.superuser, "-d", DatabaseNode.database, "-f", script,
        ], in: folder, environment: ["PGCONNECT_TIMEOUT": "2"],
        output: ("/dev/null", "/dev/null"))
      await withTaskCancellationHandler {
        _ = await process?.end()
      } onCancel: {
        process?.signal(SIGKILL)
      }
      try? await Task.sleep(for: .milliseconds(300))
    }
  }
}
