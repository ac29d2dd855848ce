import ArgumentParser
import Configuration
import Foundation
import Programs

/// The command line of the server. Every option can also be set in the environment or in the
/// configuration file: see ``SettingKey``.
@main
struct Entitled: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entitled",
    abstract: "Serves the entitlements of customers, computed from what the App Store signed.",
    discussion: """
      Each option can also be set by an environment variable (--cache-megabytes is \
      ENTITLE_CACHE_MEGABYTES) or in the configuration file (cache_megabytes). An option \
      takes precedence over the environment, and the environment over the file. SIGTERM and SIGINT \
      stop the server: calls in flight are answered first. SIGHUP opens the audit log again and \
      reloads the catalog, the credentials and the files of TLS. A change of these files reloads them \
      too.

      Exit codes: 0 stopped, 1 failed, 64 usage, 65 bad catalog, 69 address in use or not \
      available, 70 shutdown timed out, 72 the database is missing or damaged, 73 the database cannot be opened, 74 the database has to \
      be migrated, 75 the database is locked, 76 the database is of a newer version, 77 address \
      not permitted, 78 bad configuration.
      """,
    version: ProgramVersion.line(of: "entitled"))

  @Option(help: "YAML file of settings.")
  var config: String?

  @Option(
    help: """
      Address to serve on: HOST:PORT, tls:HOST:PORT, mtls:HOST:PORT (a client certificate is \
      required) or unix:PATH. Repeatable. Default: 127.0.0.1:7100.
      """)
  var listen: [String] = []

  @Option(
    help: """
      Address for callers by HTTP (the Connect protocol): HOST:PORT or tls:HOST:PORT. Repeatable. \
      Default: none.
      """)
  var httpListen: [String] = []

  @Option(
    help: """
      Address to which the App Store posts its notifications: HOST:PORT or tls:HOST:PORT. \
      Repeatable. Default: none.
      """)
  var webhookListen: [String] = []

  @Option(
    name: .customLong("webhook-trusted-proxy"),
    help: """
      Proxy in front of --webhook-listen whose X-Forwarded-For is believed: an address or a block \
      such as 192.0.2.0/24. Repeatable. Default: none.
      """)
  var webhookTrustedProxies: [String] = []

  @Option(
    help: """
      Address for probes and metrics by HTTP, which callers cannot delay: HOST:PORT or \
      tls:HOST:PORT. Repeatable. Default: none.
      """)
  var probeListen: [String] = []

  @Option(
    name: .customLong("cors-origin"),
    help: """
      Origin of pages that may call by HTTP from a browser, such as https://admin.example.com. \
      Repeatable. Default: none.
      """)
  var corsOrigins: [String] = []

  @Option(help: "YAML file of apps, products and entitlements. Required.")
  var catalog: String?

  @Option(
    help: """
      Database: sqlite:PATH or postgresql://USER@HOST/DATABASE. A password is refused here: use the \
      configuration file, ENTITLE_STORE, PGPASSFILE or passfile= in the URI. Default: \
      sqlite:entitle.sqlite.
      """)
  var store: String?

  @Flag(
    help: """
      SQLite: make a missing or empty file a new database. Without it, such a file is an error: it \
      may have been lost, and in a new database every customer is new.
      """)
  var create = false

  @Option(
    help: """
      SQLite: seconds for the check of the file at the start; 0: no check. Default: 10.
      """)
  var storeCheckSeconds: String?

  @Option(
    help: """
      Name of this node in its log and in `entitlectl health`, at most 256 bytes. Default: the name \
      of the host.
      """)
  var nodeName: String?

  @Option(
    name: .customLong("store-replica"),
    help: """
      PostgreSQL: standby for reads: postgresql://USER@HOST/DATABASE, without a password. Repeatable.
      """)
  var storeReplicas: [String] = []

  @Option(help: "PostgreSQL: connections for reads. Default: 4.")
  var storeReaders: String?

  @Option(help: "PostgreSQL: connections for writes. Default: 2.")
  var storeWriters: String?

  @Option(
    help: """
      Seconds that cached answers are served without a poll of the writes of other nodes. \
      Default: 5.
      """)
  var stalenessSeconds: String?

  @Option(help: "Days that changes are kept in the change feed; 0: forever. Default: 30.")
  var changeRetentionDays: String?

  @Option(help: "Days that entries of the audit trail are kept; 0: forever. Default: 0.")
  var auditRetentionDays: String?

  @Option(
    help: """
      File or fd:NUMBER to which entries of the audit trail are appended at once, as JSON lines. \
      SIGHUP opens the file again. Default: none.
      """)
  var auditLog: String?

  @Option(
    name: .customLong("trust-root"),
    help: ArgumentHelp(
      """
      Root certificate to trust in addition to Apple's: sha256:HEX or a PEM or DER file. With \
      ENVIRONMENT= before it for data of production, sandbox, xcode or local-testing, otherwise for \
      all but production. Repeatable.
      """, valueName: "[environment=]root"))
  var trustRoots: [String] = []

  @Flag(
    help: """
      Do not trust Apple's roots: for development, where only a simulator signs. Nothing of the App \
      Store is accepted then.
      """)
  var withoutAppleRoots = false

  @Option(
    name: .customLong("app-store-api"),
    help: ArgumentHelp(
      """
      Where the App Store Server API is: production=URL, sandbox=URL or both, with a comma. http:// on \
      this machine only. Its keys are in the section app_store of the configuration file. Default: \
      Apple's.
      """, valueName: "addresses"))
  var appStoreAPI: String?

  @Option(
    help: ArgumentHelp(
      """
      A running `storesim serve` whose virtual time is followed, for development. Possible only where no \
      root is trusted for Production, Apple's included. Default: none.
      """, valueName: "url"))
  var developmentClock: String?

  @Option(
    help: """
      YAML file of the callers, with the digests of their tokens. Without it there is no access \
      control.
      """)
  var credentials: String?

  @Flag(help: "Allow addresses that other machines can reach without credentials or without TLS.")
  var allowUnprotectedListen = false

  @Option(
    help: """
      PEM file of the server's certificate, with those of authorities below the root. Required for \
      tls: and mtls:.
      """)
  var tlsCertificate: String?

  @Option(help: "PEM file of its key. Other users must not be able to read it.")
  var tlsKey: String?

  @Option(
    name: .customLong("tls-client-ca"),
    help: """
      PEM file of the authorities that sign client certificates. Required for mtls:; with tls: a \
      client may have a certificate. Default: clients are not asked for one.
      """)
  var tlsClientCA: String?

  @Option(help: "Threads that verify signatures. Default: one for each core.")
  var verificationWorkers: String?

  @Option(help: "Payloads that may wait to be verified. Default: 4096.")
  var verificationQueue: String?

  @Option(
    help: """
      Check the status of Apple's certificates: off, soft (accept if there is no answer) or strict \
      (require an answer; otherwise RETRYABLE). Default: off.
      """)
  var certificateStatus: String?

  @Option(help: "Memory for cached answers, in megabytes. Default: 256.")
  var cacheMegabytes: String?

  @Option(
    help: """
      Memory for incomplete requests, calls in flight and unread answers of all connections, in \
      megabytes. Default: 128.
      """)
  var memoryBudgetMegabytes: String?

  @Option(help: "Open connections. Default: 10000; less if fewer files may be open.")
  var maximumConnections: String?

  @Option(
    help: """
      TCP connections that may end within two seconds, each second; above that, new connections \
      wait. Default: 2500.
      """)
  var shortConnectionsPerSecond: String?

  @Option(help: "Seconds after which an idle connection is closed. Default: 600.")
  var idleSeconds: String?

  @Option(help: "Seconds for calls in flight to finish when the server stops. Default: 10.")
  var shutdownSeconds: String?

  @Option(help: "trace, debug, info, notice, warning, error or critical. Default: info.")
  var logLevel: String?

  @Option(help: "text or json, one event on each line of stderr. Default: text.")
  var logFormat: String?

  @Option(
    help: """
      Collector of OpenTelemetry to which traces are sent by OTLP/HTTP, such as \
      http://127.0.0.1:4318; https:// for other machines. Default: none, and nothing is traced.
      """)
  var otlpEndpoint: String?

  @Option(
    help: """
      Part of the calls without a trace that is traced, from 0 to 1. Calls with a trace are \
      traced as their callers decided. Default: 0.
      """)
  var traceRatio: String?

  @Option(
    help: """
      File of header fields for the collector, such as its credentials: NAME: VALUE on each line. \
      Other users must not be able to read it.
      """)
  var otlpHeadersFile: String?

  @Flag(help: "Check configuration and catalog, print the settings in force, and exit.")
  var checkConfig = false

  func run() async throws {
    // A write to a closed pipe or connection then fails with EPIPE.
    signal(SIGPIPE, SIG_IGN)
    // A SIGHUP during startup is ignored, as the catalog is about to be read anyway.
    signal(SIGHUP, SIG_IGN)
    do {
      let settings = try await Settings.load(
        flags: flags, file: config, environment: ProcessInfo.processInfo.environment)
      if checkConfig {
        try settings.checkAddresses()
        try settings.checkTLS()
        if let path = settings.credentialsPath {
          _ = try CredentialsLoader.load(FileOnDisk(path: path))
        }
        _ = try settings.traces?.headers()
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

  /// Writes a line to stdout.
  private func write(_ text: String) throws(StartFailure) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    } catch {
      throw StartFailure(.failed, "stdout cannot be written")
    }
  }

  /// The options of the command line, by setting.
  private var flags: [SettingKey: ConfigContent] {
    let texts: [(SettingKey, String?)] = [
      (.catalog, catalog), (.store, store), (.nodeName, nodeName),
      (.certificateStatus, certificateStatus), (.auditLog, auditLog),
      (.logLevel, logLevel), (.logFormat, logFormat),
      (.credentials, credentials), (.tlsCertificate, tlsCertificate), (.tlsKey, tlsKey),
      (.tlsClientCA, tlsClientCA), (.otlpEndpoint, otlpEndpoint),
      (.otlpHeadersFile, otlpHeadersFile), (.appStoreAPI, appStoreAPI),
      (.developmentClock, developmentClock),
    ]
    let numbers: [(SettingKey, String?)] = [
      (.storeCheckSeconds, storeCheckSeconds),
      (.storeReaders, storeReaders), (.storeWriters, storeWriters),
      (.stalenessSeconds, stalenessSeconds), (.changeRetentionDays, changeRetentionDays),
      (.auditRetentionDays, auditRetentionDays),
      (.verificationWorkers, verificationWorkers), (.verificationQueue, verificationQueue),
      (.cacheMegabytes, cacheMegabytes), (.memoryBudgetMegabytes, memoryBudgetMegabytes),
      (.maximumConnections, maximumConnections),
      (.shortConnectionsPerSecond, shortConnectionsPerSecond), (.idleSeconds, idleSeconds),
      (.shutdownSeconds, shutdownSeconds),
    ]
    var flags: [SettingKey: ConfigContent] = [:]
    for case (let key, let text?) in texts { flags[key] = .string(text) }
    // A value that is not a number stays text, and is reported together with the other problems.
    for case (let key, let text?) in numbers {
      flags[key] = Int(text).map { .int($0) } ?? .string(text)
    }
    if let traceRatio {
      flags[.traceRatio] = Double(traceRatio).map { .double($0) } ?? .string(traceRatio)
    }
    if !listen.isEmpty { flags[.listen] = .stringArray(listen) }
    if !httpListen.isEmpty { flags[.httpListen] = .stringArray(httpListen) }
    if !webhookListen.isEmpty { flags[.webhookListen] = .stringArray(webhookListen) }
    if !webhookTrustedProxies.isEmpty {
      flags[.webhookTrustedProxies] = .stringArray(webhookTrustedProxies)
    }
    if !probeListen.isEmpty { flags[.probeListen] = .stringArray(probeListen) }
    if !corsOrigins.isEmpty { flags[.corsOrigins] = .stringArray(corsOrigins) }
    if !storeReplicas.isEmpty { flags[.storeReplicas] = .stringArray(storeReplicas) }
    if !trustRoots.isEmpty { flags[.trustRoots] = .stringArray(trustRoots) }
    if create { flags[.create] = .bool(true) }
    if withoutAppleRoots { flags[.withoutAppleRoots] = .bool(true) }
    if allowUnprotectedListen { flags[.allowUnprotectedListen] = .bool(true) }
    return flags
  }
}

/// The reason why `entitled` did not start. Each reason has its own exit code, from `sysexits.h` if
/// one fits. ``ShutdownWatchdog`` has the exit code of a shutdown that timed out.
struct StartFailure: Error, CustomStringConvertible {
  enum Reason: Int32, CaseIterable {
    case failed = 1
    case badCatalog = 65
    case addressUnavailable = 69
    case missingOrDamagedStore = 72
    case cannotOpenStore = 73
    case olderSchema = 74
    case storeLocked = 75
    case newerSchema = 76
    case addressNotPermitted = 77
    case badConfiguration = 78
  }

  let reason: Reason
  let description: String

  init(_ reason: Reason, _ description: String) {
    self.reason = reason
    self.description = description
  }
}
