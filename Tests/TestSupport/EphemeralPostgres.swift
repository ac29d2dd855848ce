import Foundation
import Synchronization

/// A PostgreSQL cluster for one test, in a temporary folder, on a private Unix socket. Nothing is
/// left behind: a separate process stops it and removes its folder when this process ends, in any
/// way.
///
/// Tests that use it are skipped where ``isAvailable`` is false.
package final class EphemeralPostgres: Sendable {
  package struct Options: Sendable {
    /// Whether commits wait for the disk. Without it tests are faster, and data survives a crash of
    /// the server but not of the machine.
    package var isDurable = true
    /// Also listens on a free port of 127.0.0.1.
    package var listensOnTCP = false
    /// TCP connections need a password. Passwords of roles are set with SQL.
    package var requiresPassword = false
    /// TCP connections are encrypted, with this certificate.
    package var certificate: Certificate?
    /// Further settings, by their names in `postgresql.conf`, with values in the syntax of that
    /// file.
    package var settings: [String: String] = [:]

    package init() {}
  }

  /// A server's certificate and its private key, in PEM.
  package struct Certificate: Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  package enum StopMode: String, Sendable {
    case smart, fast, immediate
  }

  /// The folder of all files of this cluster.
  package let folder: String
  /// The port in the name of the socket, and of TCP when it is enabled.
  package let port: Int
  private let installation: EphemeralPostgresInstallation
  /// Stops the cluster when this object is released.
  private let watch: EphemeralPostgresWatch
  private let databases = Atomic<Int>(0)

  /// Whether a PostgreSQL server can be started on this machine. Its programs must be in
  /// `POSTGRES_BIN`, the PATH or Debian's folders, and there must be a user other than root to run
  /// it.
  package static let isAvailable = EphemeralPostgresInstallation.found != nil

  /// Whether databases can also be dumped and restored.
  package static let canDump =
    EphemeralPostgresInstallation.found.map { $0.has("pg_dump") && $0.has("pg_restore") } ?? false

  /// One cluster for all tests of the process; each test has its own database.
  package static var shared: EphemeralPostgres {
    get throws { try sharedOutcome.get() }
  }

  private static let sharedOutcome = Result { try start() }

  /// Starts a new cluster, and waits until it answers.
  package static func start(_ options: Options = Options()) throws -> EphemeralPostgres {
    guard let installation = EphemeralPostgresInstallation.found else {
      throw EphemeralPostgresError("no PostgreSQL server is installed on this machine")
    }
    let cluster = try EphemeralPostgres(installation, options)
    try installation.copy(try EphemeralPostgresTemplate.folder(), to: cluster.dataFolder)
    try cluster.configure(options)
    try cluster.start()
    return cluster
  }

  private init(_ installation: EphemeralPostgresInstallation, _ options: Options) throws {
    self.installation = installation
    port = options.listensOnTCP ? try EphemeralPostgresInstallation.freePort() : 5432
    folder = try installation.makeFolder()
    watch = try EphemeralPostgresWatch(folder)
  }

  /// A connection string in the form of a URI, through the Unix socket.
  package func connectionString(database: String = "postgres") -> String {
    "postgresql://postgres@/\(database)?host=\(folder)&port=\(port)"
  }

  /// The same for TCP.
  package func tcpConnectionString(
    database: String = "postgres", user: String = "postgres", password: String? = nil
  ) -> String {
    let credentials = password.map { "\(user):\($0)" } ?? user
    return "postgresql://\(credentials)@127.0.0.1:\(port)/\(database)"
  }

  /// - Parameter template: a database without connections; nil for an empty one.
  /// - Returns: the connection string of a new database.
  package func makeDatabase(template: String? = nil) throws -> String {
    let number = databases.add(1, ordering: .relaxed).newValue
    let name = "test_\(number)"
    try execute("CREATE DATABASE \(name)" + (template.map { " TEMPLATE \($0)" } ?? ""))
    return connectionString(database: name)
  }

  /// The name of the database of a connection string in the form of a URI.
  package static func databaseName(of connection: String) throws -> String {
    guard let name = connection.split(separator: "?").first?.split(separator: "/").last else {
      throw EphemeralPostgresError("a connection string has no database")
    }
    return String(name)
  }

  /// Runs SQL with `psql`.
  ///
  /// - Returns: the rows, with `|` between columns.
  @discardableResult
  package func execute(_ sql: String, database: String = "postgres") throws -> String {
    try installation.run(
      "psql",
      ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d"]
        + [connectionString(database: database), "-c", sql])
  }

  /// Writes a database to a file in this cluster's folder, like a backup by an operator.
  ///
  /// - Returns: the file's path.
  package func dump(_ connection: String) throws -> String {
    let path = "\(folder)/\(UUID().uuidString).dump"
    try installation.run("pg_dump", ["--format=custom", "--file=\(path)", connection])
    return path
  }

  /// Restores such a file into an empty database of this cluster.
  package func restore(_ path: String, into connection: String) throws {
    try installation.run("pg_restore", ["--dbname=\(connection)", "--no-owner", path])
  }

  /// Starts it after a stop or a crash, and waits until it answers.
  package func start() throws {
    do {
      try installation.run(
        "pg_ctl", ["start", "-w", "-t", "60", "-D", dataFolder, "-l", "\(folder)/server.log"])
    } catch {
      let log = (try? String(contentsOfFile: "\(folder)/server.log", encoding: .utf8)) ?? ""
      throw EphemeralPostgresError("\(error)\n\(log.suffix(2_000))")
    }
  }

  package func stop(_ mode: StopMode = .fast) throws {
    try installation.run(
      "pg_ctl", ["stop", "-w", "-t", "60", "-m", mode.rawValue, "-D", dataFolder])
  }

  /// Kills all its processes at once (SIGKILL), as a crash does.
  package func kill() throws {
    let processes = try self.processes
    for process in processes { EphemeralPostgresInstallation.signal(process, SIGKILL) }
    EphemeralPostgresInstallation.waitForEnd(of: processes)
    // Until they are reaped, killed processes keep their ids, and a new server would take these
    // files for those of a running one.
    for file in ["data/postmaster.pid", ".s.PGSQL.\(port).lock"] { unlink("\(folder)/\(file)") }
  }

  /// Stops all its processes (SIGSTOP): it neither answers nor closes connections.
  package func pause() throws {
    for process in try processes { EphemeralPostgresInstallation.signal(process, SIGSTOP) }
  }

  package func resume() throws {
    for process in try processes { EphemeralPostgresInstallation.signal(process, SIGCONT) }
  }

  /// A streaming standby of this cluster.
  package func makeStandby(_ options: Options = Options()) throws -> EphemeralPostgres {
    let standby = try EphemeralPostgres(installation, options)
    try installation.run(
      "pg_basebackup",
      ["-d", connectionString(), "-D", standby.dataFolder, "-R", "-X", "stream", "-c", "fast"])
    try standby.configure(options)
    try standby.start()
    return standby
  }

  /// Starts a stopped primary as a standby that follows no server. It can be promoted.
  package func startAsStandby() throws {
    try installation.write("", to: "\(dataFolder)/standby.signal")
    try start()
  }

  /// Promotes a standby to a primary, and waits until it is one.
  package func promote() throws {
    try installation.run("pg_ctl", ["promote", "-w", "-t", "60", "-D", dataFolder])
  }

  /// The process id of the postmaster.
  package var postmaster: Int32 {
    get throws {
      let text = try String(contentsOfFile: "\(dataFolder)/postmaster.pid", encoding: .utf8)
      guard let line = text.split(separator: "\n").first, let process = Int32(line) else {
        throw EphemeralPostgresError("the server is not running")
      }
      return process
    }
  }

  package var dataFolder: String { "\(folder)/data" }

  private var processes: [Int32] {
    get throws {
      let postmaster = try self.postmaster
      return [postmaster] + EphemeralPostgresInstallation.children(of: postmaster)
    }
  }

  private func configure(_ options: Options) throws {
    var settings = [
      "listen_addresses": options.listensOnTCP ? "'127.0.0.1'" : "''",
      "port": "\(port)",
      "unix_socket_directories": "'\(folder)'",
      "fsync": options.isDurable ? "on" : "off",
      "shared_buffers": "64MB",
      "logging_collector": "off",
    ]
    if let certificate = options.certificate {
      settings["ssl"] = "on"
      try installation.write(certificate.certificate, to: "\(dataFolder)/server.crt")
      // The server refuses a key that other users can read.
      try installation.write(certificate.key, to: "\(dataFolder)/server.key", permissions: 0o600)
    }
    settings.merge(options.settings) { _, given in given }
    let text = settings.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)\n" }.joined()
    try installation.write(text, to: "\(dataFolder)/postgresql.conf")
    let host = options.certificate == nil ? "host" : "hostssl"
    let authentication = options.requiresPassword ? "scram-sha-256" : "trust"
    try installation.write(
      """
      local all all trust
      local replication all trust
      \(host) all all 127.0.0.1/32 \(authentication)
      \(host) replication all 127.0.0.1/32 \(authentication)

      """, to: "\(dataFolder)/pg_hba.conf")
  }
}
