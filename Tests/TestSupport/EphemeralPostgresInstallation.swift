import Foundation

/// The programs of a PostgreSQL server and the user that runs them. The server refuses to run as
/// root.
struct EphemeralPostgresInstallation: Sendable {
  private let programs: String
  /// The user of the programs; nil for the user of the tests.
  private let user: (identifier: uid_t, group: gid_t)?

  static let found: EphemeralPostgresInstallation? = {
    guard let programs = programFolders.first(where: { hasServer(in: $0) }) else { return nil }
    guard getuid() == 0 else { return EphemeralPostgresInstallation(programs: programs, user: nil) }
    guard let entry = getpwnam("postgres"),
      FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
    else { return nil }
    let user = (entry.pointee.pw_uid, entry.pointee.pw_gid)
    return EphemeralPostgresInstallation(programs: programs, user: user)
  }()

  private static var programFolders: [String] {
    let environment = ProcessInfo.processInfo.environment
    let debian = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
    return [environment["POSTGRES_BIN"]].compactMap(\.self)
      + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
      // The newest first.
      + versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(debian)/\($0)/bin" }
  }

  private static func hasServer(in folder: String) -> Bool {
    ["postgres", "initdb", "pg_ctl", "psql", "pg_basebackup"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)")
    }
  }

  func has(_ program: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "\(programs)/\(program)")
  }

  /// Runs one of the programs and waits for it.
  ///
  /// - Returns: its standard output.
  @discardableResult
  func run(_ program: String, _ arguments: [String]) throws -> String {
    try execute(["\(programs)/\(program)"] + arguments)
  }

  func copy(_ source: String, to target: String) throws {
    try execute(["/bin/cp", "-a", source, target])
  }

  /// Makes a folder that the user of the programs owns. Its path is short enough for Unix sockets.
  func makeFolder() throws -> String {
    let folder = "/tmp/entitle-pg-\(String(UInt64.random(in: 0...(.max)), radix: 36))"
    guard mkdir(folder, 0o755) == 0 else {
      throw EphemeralPostgresError("\(folder) cannot be made")
    }
    try own(folder)
    return folder
  }

  func write(_ text: String, to path: String, permissions: Int = 0o644) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    try own(path)
  }

  private func own(_ path: String) throws {
    guard let user else { return }
    guard chown(path, user.identifier, user.group) == 0 else {
      throw EphemeralPostgresError("\(path) cannot be given to the server's user")
    }
  }

  @discardableResult
  private func execute(_ command: [String]) throws -> String {
    // A started server keeps its output files open, so pipes would not end. Its user cannot create
    // files in this folder, but can write to open ones.
    let outputs = try TemporaryFolder()
    let (output, errors) = (outputs.file("output"), outputs.file("errors"))
    var words = command
    if let user {
      words =
        ["/usr/bin/setpriv", "--reuid=\(user.identifier)", "--regid=\(user.group)"]
        + ["--clear-groups", "--"] + words
    }
    let process = try EphemeralPostgresProgram.start(words, output: output, errors: errors)
    let status = EphemeralPostgresProgram.wait(for: process)
    guard status == 0 else {
      let reason = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
      throw EphemeralPostgresError("\(command[0]) ended with \(status): \(reason)")
    }
    return try String(contentsOfFile: output, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
