import Foundation
import Glibc

/// The programs of the PostgreSQL server, and their user.
struct DatabasePrograms: Sendable {
  /// The folder of `initdb` and `postgres`.
  let folder: String
  /// The server refuses to run as root. Nil for the user of this program.
  let user: String?

  static let superuser = "postgres"

  /// - Parameter folder: nil for the newest version that Debian has installed.
  /// - Throws: ``ChaosFailure`` when there is none.
  static func find(in folder: String?) throws -> DatabasePrograms {
    let base = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    let newest = versions.compactMap { Int($0) }.max().map { "\(base)/\($0)/bin" }
    guard let folder = folder ?? newest,
      FileManager.default.isExecutableFile(atPath: folder + "/initdb")
    else { throw ChaosFailure("no server of PostgreSQL is installed") }
    return DatabasePrograms(folder: folder, user: geteuid() == 0 ? superuser : nil)
  }

  func command(_ program: String, _ arguments: [String]) -> [String] {
    let own = ["\(folder)/\(program)"] + arguments
    guard let user else { return own }
    return ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--init-groups", "--"] + own
  }
}
