import ArgumentParser
import Configuration
import Foundation
import Programs

/// The server's command line. Every option may also stand in the environment or in the file; see
/// ``SettingKey``.
@main
struct Entitled: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entitled",
    abstract: "Answers what a customer may use, from what the App Store signed.",
    discussion: """
      Each option can also be set by an environment variable (--cache-megabytes is \
      ENTITLE_CACHE_MEGABYTES) or in the configuration file (cache_megabytes). An option goes \
      before the environment, and the environment before the file. SIGTERM and SIGINT stop the \
      server: calls in flight are answered first. SIGHUP has it read its catalog again, which it \
      also does when the file changes.

      Exit codes: 0 stopped, 1 failed, 64 usage, 65 bad catalog, 69 address in use or not \
      available, 70 stopping took too long, 73 the database cannot be opened, 74 the database has to \
      be migrated, 75 the database is locked, 76 the database is of a newer version, 77 address not \
      permitted, 78 bad configuration.
      """,
    version: ProgramVersion.line(of: "entitled"))

  @Option(help: "YAML file of settings.")
  var config: String?

  @Option(
    help: """
      Address to serve on: HOST:PORT or unix:PATH. Repeatable. Default: 127.0.0.1:7100.
      """)
  var listen: [String] = []

  @Option(help: "YAML file of apps, products and entitlements. Required.")
  var catalog: String?

  @Option(
    help: """
      Database: sqlite:PATH or postgresql://USER@HOST/DATABASE. Others see a password here: keep it \
      in the configuration file or in PGPASSFILE. Default: sqlite:entitle.sqlite.
      """)
  var store: String?

  @Option(
    name: .customLong("store-replica"),
    help: """
      PostgreSQL: a standby that may answer reads: postgresql://USER@HOST/DATABASE. Repeatable.
      """)
  var storeReplicas: [String] = []

  @Option(help: "PostgreSQL: connections that read. Default: 4.")
  var storeReaders: String?

  @Option(help: "PostgreSQL: connections that write. Default: 2.")
  var storeWriters: String?

  @Option(
    help: """
      Seconds that an answer in memory is served for without a look at what other nodes have \
      written. Default: 5.
      """)
  var stalenessSeconds: String?

  @Option(help: "Days that the change feed is kept; 0: for ever. Default: 30.")
  var changeRetentionDays: String?

  @Option(
    name: .customLong("trust-root"),
    help: """
      Root certificate to trust beside Apple's: sha256:HEX or a PEM or DER file. Repeatable.
      """)
  var trustRoots: [String] = []

  @Flag(help: "Serve on addresses that other machines can reach, without any access control.")
  var allowUnprotectedListen = false

  @Option(help: "Threads that verify signatures. Default: one for each core.")
  var verificationWorkers: String?

  @Option(help: "Payloads that may wait to be verified. Default: 4096.")
  var verificationQueue: String?

  @Option(
    help: """
      Ask for the status of Apple's certificates: off, soft (no answer passes) or strict (no \
      answer is to be retried). Default: off.
      """)
  var certificateStatus: String?

  @Option(help: "Memory for answers, in megabytes. Default: 256.")
  var cacheMegabytes: String?

  @Option(help: "Connections at a time. Default: 10000.")
  var maximumConnections: String?

  @Option(
    help:
      "TCP connections a second that may end within two; with more, new ones wait. Default: 2500.")
  var shortConnectionsPerSecond: String?

  @Option(help: "Seconds after which a silent connection is closed. Default: 600.")
  var idleSeconds: String?

  @Option(help: "Seconds that calls in flight have when the server stops. Default: 10.")
  var shutdownSeconds: String?

  @Option(help: "trace, debug, info, notice, warning, error or critical. Default: info.")
  var logLevel: String?

  @Option(help: "text or json, one event a line on stderr. Default: text.")
  var logFormat: String?

  @Flag(help: "Check configuration and catalog, print what is in force, and exit.")
  var checkConfig = false

  func run() async throws {
    // Whoever reads the log or a connection may be gone: that is an error of the write.
    signal(SIGPIPE, SIG_IGN)
    // Who asks for the catalog to be read again before anybody listens has it read anyway.
    signal(SIGHUP, SIG_IGN)
    do {
      let settings = try await Settings.load(
        flags: flags, file: config, environment: ProcessInfo.processInfo.environment)
      if checkConfig {
        try settings.checkAddresses()
        let catalog = try CatalogLoader.load(settings.catalogPath).contents
        try write(settings.summary(catalog: catalog))
      } else {
        try await Server(settings: settings).run()
      }
    } catch let failure as StartFailure {
      try? FileHandle.standardError.write(contentsOf: Data("entitled: \(failure)\n".utf8))
      throw ExitCode(failure.reason.rawValue)
    }
  }

  /// Writes to stdout.
  private func write(_ text: String) throws(StartFailure) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    } catch {
      throw StartFailure(.failed, "stdout cannot be written")
    }
  }

  /// What the command line gave, by setting.
  private var flags: [SettingKey: ConfigContent] {
    let texts: [(SettingKey, String?)] = [
      (.catalog, catalog), (.store, store), (.certificateStatus, certificateStatus),
      (.logLevel, logLevel), (.logFormat, logFormat),
    ]
    let numbers: [(SettingKey, String?)] = [
      (.storeReaders, storeReaders), (.storeWriters, storeWriters),
      (.stalenessSeconds, stalenessSeconds), (.changeRetentionDays, changeRetentionDays),
      (.verificationWorkers, verificationWorkers), (.verificationQueue, verificationQueue),
      (.cacheMegabytes, cacheMegabytes), (.maximumConnections, maximumConnections),
      (.shortConnectionsPerSecond, shortConnectionsPerSecond), (.idleSeconds, idleSeconds),
      (.shutdownSeconds, shutdownSeconds),
    ]
    var flags: [SettingKey: ConfigContent] = [:]
    for case (let key, let text?) in texts { flags[key] = .string(text) }
    // What is not a number stays text, and is reported with everything else that is wrong.
    for case (let key, let text?) in numbers {
      flags[key] = Int(text).map { .int($0) } ?? .string(text)
    }
    if !listen.isEmpty { flags[.listen] = .stringArray(listen) }
    if !storeReplicas.isEmpty { flags[.storeReplicas] = .stringArray(storeReplicas) }
    if !trustRoots.isEmpty { flags[.trustRoots] = .stringArray(trustRoots) }
    if allowUnprotectedListen { flags[.allowUnprotectedListen] = .bool(true) }
    return flags
  }
}
