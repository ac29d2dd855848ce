import Foundation

/// An empty cluster, created once in a process and copied for all others.
enum EphemeralPostgresTemplate {
  private struct Made: Sendable {
    let folder: String
    /// Removes it when the process ends.
    let watch: EphemeralPostgresWatch
  }

  private static let outcome = Result {
    guard let installation = EphemeralPostgresInstallation.found else {
      throw EphemeralPostgresError("no PostgreSQL server is installed on this machine")
    }
    let folder = try installation.makeFolder()
    let watch = try EphemeralPostgresWatch(folder)
    try installation.run(
      "initdb",
      ["--no-sync", "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres"]
        + ["-D", "\(folder)/data"])
    return Made(folder: folder, watch: watch)
  }

  static func folder() throws -> String {
    "\(try outcome.get().folder)/data"
  }
}
