import AppStoreServerAPI
import CatalogFiles
import Configuration
import EntitlementDomain
import Foundation
import Framing
import HTTPFront
import Logging
import OutboundHTTP
import PostgresStore
import Programs
import RPCServer
import SystemPackage
import TraceExport
import Verification
import Wire
import Yams

/// The validated settings of `entitled`.
struct Settings: Sendable {
  var listen: [ServerAddress]
  /// For callers by HTTP.
  var httpListen: [ServerAddress]
  /// For the notifications of the App Store.
  var webhookListen: [ServerAddress]
  /// The proxies in front of it that say whose request they pass on.
  var webhookTrustedProxies: [AddressBlock]
  /// For probes and metrics.
  var probeListen: [ServerAddress]
  /// The origins of pages that may call by HTTP from a browser.
  var corsOrigins: [String]
  var catalogPath: String
  var store: StoreChoice
  /// Tells this node apart from others of the same store.
  var nodeName: String
  /// How old the last poll of the change feed may be while cached answers are served.
  var staleness: Duration
  /// How long changes are kept; nil if forever.
  var changeRetention: Duration?
  /// How long entries of the audit trail are kept; nil if forever.
  var auditRetentionDays: Int?
  /// Where the audit trail is written at once; nil: only in the database.
  var auditLog: AuditLogTarget?
  var trustAnchors: TrustAnchors
  /// Whether Apple's roots are not trusted.
  var isWithoutAppleRoots: Bool
  /// Where the virtual time is asked for; nil: time is the system's.
  var developmentClock: OutboundAddress?
  /// Where the App Store Server API is.
  var appStoreAddresses: AppStoreServerAddresses
  /// The keys of the App Store Server API, as they were at the start; nil without the section.
  var appStore: AppStoreSettings?
  /// Where they are read again, with the version before they were read; nil without a settings file.
  var appStoreSource: (AppStoreSettingsSource, FileOnDisk.Version?)?
  var allowUnprotectedListen: Bool
  /// The file of credentials; nil: no access control.
  var credentialsPath: String?
  /// Nil without TLS.
  var tls: TLSFileNames?
  var verificationWorkers: Int
  /// The number of payloads that may wait for a worker.
  var verificationQueue: Int
  /// Whether the status of certificates is checked, and whether a missing answer is accepted.
  var certificateStatus: StatusPolicy
  var cacheBytes: Int
  /// The memory of all connections together: see ``RPCLimits/memory``.
  var memoryBudget: Int
  var maximumConnections: Int
  var shortConnectionsPerSecond: Int
  var idleTime: Duration
  var shutdownTime: Duration
  var logLevel: Logger.Level
  var logFormat: LineLogHandler.Format
  /// Nil: no call is traced.
  var traces: TraceSettings?
}

extension Settings {
  /// Reads the settings. Flags take precedence over the environment, and the environment over the
  /// file.
  ///
  /// - Parameters:
  ///   - flags: The options of the command line, by key.
  ///   - file: The configuration file; nil for the file that the environment names, if any.
  /// - Throws: ``StartFailure`` with all problems, one on each line.
  static func load(
    flags: [SettingKey: ConfigContent], file: String?, environment: [String: String]
  ) async throws -> Settings {
    let file = file ?? environment[SettingKey.configurationFileVariable]
    var problems = unknownVariables(in: environment) + secrets(in: flags)
    var providers: [any ConfigProvider] = [
      InMemoryProvider(
        name: "flags",
        values: Dictionary(
          uniqueKeysWithValues: flags.map { key, content in
            (AbsoluteConfigKey([key.rawValue]), ConfigValue(content, isSecret: false))
          })),
      EnvironmentVariablesProvider(environmentVariables: environment)
        .prefixKeys(with: ConfigKey(["entitle"])),
    ]
    var appStore: AppStoreSettings?
    var appStoreSource: (AppStoreSettingsSource, FileOnDisk.Version?)?
    if let file {
      let source = AppStoreSettingsSource(
        file: FileOnDisk(path: file), credentialsDirectory: environment["CREDENTIALS_DIRECTORY"])
      // Taken before the file is read: any later change causes a reload.
      appStoreSource = (source, source.file.version)
      problems += unknownKeys(inFile: file)
      do {
        providers.append(try await FileProvider<SettingsSnapshot>(filePath: FilePath(file)))
      } catch {
        throw StartFailure(
          .badConfiguration, "the configuration file \(file) cannot be read: \(Self.reason(error))")
      }
      do throws(AppStoreSettings.Invalid) {
        appStore = try AppStoreSettings.read(source)
      } catch {
        problems.append(error.description)
      }
    }
    var reader = SettingsReader(config: ConfigReader(providers: providers), problems: problems)
    var settings = await reader.settings()
    if let factor = appStore?.rateFactor, factor > 0.8,
      settings?.appStoreAddresses.areOfThisMachine == false
    {
      reader.problems.append(
        "\(AppStoreSettings.section).rate_factor: more than 0.8 of Apple's rates is for a "
          + "simulator on this machine (app_store_api)")
    }
    settings?.appStore = appStore
    settings?.appStoreSource = appStoreSource
    guard let settings, reader.problems.isEmpty else {
      throw StartFailure(.badConfiguration, reader.problems.joined(separator: "\n"))
    }
    return settings
  }

  /// Without the text of the file, where the parser shows it: it may contain a password.
  private static func reason(_ error: any Error) -> String {
    guard let error = error as? YamlError else { return "\(error)" }
    return switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      "line \(mark.line), column \(mark.column): \(problem)"
    default: "it is not YAML"
    }
  }

  /// Variables that Kubernetes sets in every container for a Service whose name begins with
  /// `entitle`. They cannot be prevented, and no setting has such a name.
  private static var serviceVariable: Regex<Substring> {
    /.+_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT(?:_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)/
  }

  /// Reports misspelled variables, which would be ignored otherwise.
  private static func unknownVariables(in environment: [String: String]) -> [String] {
    let known = Set(
      SettingKey.allCases.map(\.environmentVariable) + [SettingKey.configurationFileVariable])
    return environment.keys
      .filter { $0.hasPrefix(SettingKey.environmentPrefix) && !known.contains($0) }
      .filter { $0.wholeMatch(of: serviceVariable) == nil }
      .sorted()
      .map {
        "environment variable \($0): unknown; known: \(known.sorted().joined(separator: ", "))"
      }
  }

  /// Reports passwords in the command line, which every user of the machine can see.
  private static func secrets(in flags: [SettingKey: ConfigContent]) -> [String] {
    var arguments: [(SettingKey, String)] = []
    if case .string(let text)? = flags[.store] { arguments.append((.store, text)) }
    if case .stringArray(let texts)? = flags[.storeReplicas] {
      arguments += texts.map { (.storeReplicas, $0) }
    }
    return arguments.compactMap { key, text in
      ConnectionArgument.refusal(
        of: text, as: key == .store ? "--store" : "--store-replica",
        alternative: "in the configuration file (\(key.rawValue)) or in \(key.environmentVariable) "
          + "in the environment")
    }
  }

  private static func unknownKeys(inFile path: String) -> [String] {
    // A file that cannot be read or parsed is reported by its provider.
    guard let text = try? String(contentsOfFile: path, encoding: .utf8),
      let mapping = try? Yams.compose(yaml: text)?.mapping
    else { return [] }
    let known = SettingKey.allCases.map(\.rawValue) + [AppStoreSettings.section]
    return mapping.keys.compactMap { key in
      guard let name = key.scalar?.string, !known.contains(name) else { return nil }
      let line = key.mark.map { " line \($0.line)," } ?? ""
      return "\(path),\(line) \(name): unknown setting; known: \(known.joined(separator: ", "))"
    }
  }
}

extension Settings {
  /// Reads the files of TLS.
  func checkTLS() throws(StartFailure) {
    guard let tls else { return }
    _ = try TLSReloader(tls, logger: Logger(label: "entitled") { _ in SwiftLogNoOpLogHandler() })
  }

  /// What is unsafe in the settings, a sentence each: for the log of each start, for
  /// `--check-config` and for health checks.
  var warnings: [String] {
    trustAnchors.named.filter { $0.anchor.environments.contains(.production) }.map { root in
      "\(SettingKey.trustRoots.rawValue): \(root.fingerprint) is trusted for Production"
        + (isWithoutAppleRoots ? "" : " beside Apple's roots")
        + ": its key can sign purchases that nobody paid for"
    }
      + developmentWarnings
      + addressWarnings
      + credentialsWarnings
  }

  private var developmentWarnings: [String] {
    var warnings: [String] = []
    if trustAnchors == .none {
      warnings.append(
        "\(SettingKey.withoutAppleRoots.rawValue): no root is trusted, so nothing signed is accepted"
      )
    }
    if let developmentClock {
      warnings.append(
        "\(SettingKey.developmentClock.rawValue): time is the virtual time of \(developmentClock): "
          + "for development only")
    }
    return warnings
  }

  private var credentialsWarnings: [String] {
    guard let credentialsPath, let mode = FileOnDisk(path: credentialsPath).mode,
      mode & 0o004 != 0
    else { return [] }
    return [
      "\(SettingKey.credentials.rawValue): all users of the machine may read the file (chmod 640)"
    ]
  }

  /// The settings in force, one on each line, for `--check-config`.
  func summary(catalog: CatalogFile.Contents) -> String {
    let settings: [(SettingKey, String)] = [
      (.listen, Self.list(listen)),
      (.httpListen, Self.list(httpListen)),
      (.webhookListen, Self.list(webhookListen)),
      (.webhookTrustedProxies, Self.list(webhookTrustedProxies)),
      (.probeListen, Self.list(probeListen)),
      (.corsOrigins, corsOrigins.isEmpty ? "none" : corsOrigins.joined(separator: ", ")),
      (.catalog, catalogPath),
      (.store, store.description),
    ]
    let roots = (isWithoutAppleRoots ? [] : ["Apple's"]) + trustAnchors.settings
    let others: [(SettingKey, String)] = [
      (.nodeName, nodeName),
      (.stalenessSeconds, String(staleness.components.seconds)),
      (.changeRetentionDays, String((changeRetention?.components.seconds ?? 0) / 86_400)),
      (.auditRetentionDays, String(auditRetentionDays ?? 0)),
      (.auditLog, auditLog?.description ?? "none"),
      (.trustRoots, roots.isEmpty ? "none" : roots.joined(separator: ", ")),
      (.withoutAppleRoots, String(isWithoutAppleRoots)),
      (.appStoreAPI, appStoreAddresses.description),
      (.developmentClock, developmentClock?.description ?? "none"),
      (.credentials, credentialsPath ?? "none"),
      (.allowUnprotectedListen, String(allowUnprotectedListen)),
      (.tlsCertificate, tls?.certificate ?? "none"),
      (.tlsKey, tls?.key ?? "none"),
      (.tlsClientCA, tls?.clientAuthorities ?? "none"),
      (.verificationWorkers, String(verificationWorkers)),
      (.verificationQueue, String(verificationQueue)),
      (.certificateStatus, certificateStatus.rawValue),
      (.cacheMegabytes, String(cacheBytes >> 20)),
      (.memoryBudgetMegabytes, String(memoryBudget >> 20)),
      (.maximumConnections, String(maximumConnections)),
      (.shortConnectionsPerSecond, String(shortConnectionsPerSecond)),
      (.idleSeconds, String(idleTime.components.seconds)),
      (.shutdownSeconds, String(shutdownTime.components.seconds)),
      (.logLevel, logLevel.rawValue),
      (.logFormat, logFormat.rawValue),
      (.otlpEndpoint, traces?.collector.description ?? "none"),
      (.traceRatio, traces.map { String($0.ratio) } ?? "0"),
      (.otlpHeadersFile, traces?.headersPath ?? "none"),
    ]
    var lines = (settings + store.settings + others).map { "\($0.rawValue): \($1)" }
    lines.append("\(AppStoreSettings.section): \(appStore?.summary ?? "none")")
    lines += warnings.map { "warning: \($0)" }
    lines += (appStore?.warnings(catalog.catalog) ?? []).map { "warning: \($0)" }
    lines += catalog.warnings.map { "\(catalogPath): \($0)" }
    let counts = catalog.catalog
    lines.append(
      "The configuration is valid: \(counts.apps.count) apps, \(counts.products.count) products, "
        + "\(counts.entitlements.count) entitlements.")
    return lines.joined(separator: "\n")
  }
}

extension Settings {
  fileprivate static func list(_ addresses: [some CustomStringConvertible]) -> String {
    addresses.isEmpty ? "none" : addresses.map(\.description).joined(separator: ", ")
  }
}

/// Reads all settings and collects the problems.
private struct SettingsReader {
  let config: ConfigReader
  var problems: [String]

  mutating func settings() async -> Settings? {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let listen = await strings(.listen) ?? ["127.0.0.1:7100"]
    let addresses = listen.compactMap { address(parsing: $0, of: .listen) }
    let httpListen = await httpAddresses(.httpListen)
    let webhookListen = await httpAddresses(.webhookListen)
    let proxies = await trustedProxies(areUsed: !webhookListen.isEmpty)
    let probeListen = await httpAddresses(.probeListen)
    let origins = await origins(areUsed: !httpListen.isEmpty)
    if listen.isEmpty { report(.listen, "at least one address is needed") }
    let catalogPath = await string(.catalog)
    if catalogPath == nil {
      report(
        .catalog, "missing: the path of the catalog file, as --catalog or in the file of --config")
    }
    let store = await store()
    let nodeName = await nodeName()
    let staleness = await integer(.stalenessSeconds, default: 5, range: 1...3_600)
    let retention = await integer(.changeRetentionDays, default: 30, range: 0...3_650)
    let auditRetention = await integer(.auditRetentionDays, default: 0, range: 0...36_500)
    let auditLog = await auditLog()
    let withoutApple = await boolean(.withoutAppleRoots) ?? false
    let anchors = trustAnchors(
      named: await strings(.trustRoots) ?? [], beside: withoutApple ? .none : .apple)
    let clock = await developmentClock(anchors, trustsApple: !withoutApple)
    let appStoreAddresses = await appStoreAddresses()
    let workers = await integer(.verificationWorkers, default: cores, range: 1...1_024)
    // The queue must have room for the largest submission, which is queued as a whole.
    let queue = await integer(
      .verificationQueue, default: 4_096,
      range: SubmitSignedTransactionsRequest.maximumItems...1_000_000)
    let status = await choice(.certificateStatus, default: StatusPolicy.off)
    let cache = await integer(.cacheMegabytes, default: 256, range: 1...1_048_576)
    // One connection must be able to send the longest request and get the longest answer.
    let memory = await integer(.memoryBudgetMegabytes, default: 128, range: 48...1_048_576)
    let connections = await integer(.maximumConnections, default: 10_000, range: 1...1_000_000)
    let accepts = await integer(.shortConnectionsPerSecond, default: 2500, range: 1...1_000_000)
    let idle = await integer(.idleSeconds, default: 600, range: 1...86_400)
    let shutdown = await integer(.shutdownSeconds, default: 10, range: 1...3_600)
    let level = await choice(.logLevel, default: Logger.Level.info)
    let format = await choice(.logFormat, default: LineLogHandler.Format.text)
    let traces = await traces()
    let tls = await tlsFiles(for: addresses + httpListen + webhookListen + probeListen)
    let unprotected = await boolean(.allowUnprotectedListen) ?? false
    let credentials = await string(.credentials)
    guard let catalogPath, let store else { return nil }
    return Settings(
      listen: addresses, httpListen: httpListen, webhookListen: webhookListen,
      webhookTrustedProxies: proxies, probeListen: probeListen,
      corsOrigins: origins, catalogPath: catalogPath, store: store, nodeName: nodeName,
      staleness: .seconds(staleness),
      changeRetention: retention == 0 ? nil : .seconds(retention * 86_400),
      auditRetentionDays: auditRetention == 0 ? nil : auditRetention, auditLog: auditLog,
      trustAnchors: anchors, isWithoutAppleRoots: withoutApple, developmentClock: clock,
      appStoreAddresses: appStoreAddresses, appStore: nil, appStoreSource: nil,
      allowUnprotectedListen: unprotected, credentialsPath: credentials, tls: tls,
      verificationWorkers: workers,
      verificationQueue: queue, certificateStatus: status, cacheBytes: cache << 20,
      memoryBudget: memory << 20, maximumConnections: connections,
      shortConnectionsPerSecond: accepts, idleTime: .seconds(idle),
      shutdownTime: .seconds(shutdown), logLevel: level, logFormat: format,
      traces: traces)
  }

  private mutating func report(_ key: SettingKey, _ problem: String) {
    problems.append("\(key.rawValue): \(problem)")
  }

  // MARK: Structured values

  private mutating func address(parsing text: String, of key: SettingKey) -> ServerAddress? {
    do {
      return try ServerAddress(parsing: text)
    } catch {
      report(key, "\(text): \(error)")
      return nil
    }
  }

  private mutating func httpAddresses(_ key: SettingKey) async -> [ServerAddress] {
    let texts = await strings(key) ?? []
    return texts.compactMap { text in
      switch address(parsing: text, of: key) {
      case .tcp(let host, let port)?: return .tcp(host: host, port: port)
      case .tls(let host, let port)?: return .tls(host: host, port: port)
      case .mutualTLS?, .unix?:
        report(key, "\(text): HOST:PORT or tls:HOST:PORT is expected")
        return nil
      case nil: return nil
      }
    }
  }

  /// - Parameter areUsed: Whether there is a listener to which they apply.
  private mutating func origins(areUsed: Bool) async -> [String] {
    let origins = await strings(.corsOrigins) ?? []
    for origin in origins where !CrossOrigin.isOrigin(origin) {
      report(.corsOrigins, "\(origin): an origin is expected, such as https://admin.example.com")
    }
    if !origins.isEmpty, !areUsed {
      report(.corsOrigins, "requires \(SettingKey.httpListen.rawValue)")
    }
    return origins
  }

  /// - Parameter areUsed: Whether there is a listener to which they apply.
  private mutating func trustedProxies(areUsed: Bool) async -> [AddressBlock] {
    let texts = await strings(.webhookTrustedProxies) ?? []
    if !texts.isEmpty, !areUsed {
      report(.webhookTrustedProxies, "requires \(SettingKey.webhookListen.rawValue)")
    }
    return texts.compactMap { text in
      let block = AddressBlock(text)
      if block == nil {
        report(
          .webhookTrustedProxies,
          "\(text): an address or a block is expected, such as 192.0.2.1 or 2001:db8::/32")
      }
      return block
    }
  }

  private mutating func tlsFiles(for addresses: [ServerAddress]) async -> TLSFileNames? {
    let certificate = await string(.tlsCertificate)
    let key = await string(.tlsKey)
    let authorities = await string(.tlsClientCA)
    if let address = addresses.first(where: \.isEncrypted) {
      if certificate == nil { report(.tlsCertificate, "missing: \(address) needs a certificate") }
      if key == nil { report(.tlsKey, "missing: \(address) needs the key of its certificate") }
    }
    for case .mutualTLS(let host, let port) in addresses where authorities == nil {
      let address = ServerAddress.mutualTLS(host: host, port: port)
      report(.tlsClientCA, "missing: \(address) needs the authorities of its clients")
    }
    let given: [(SettingKey, String?)] = [
      (.tlsCertificate, certificate), (.tlsKey, key), (.tlsClientCA, authorities),
    ]
    for case (let key, _?) in given where !addresses.contains(where: \.isEncrypted) {
      report(key, "requires an address with tls: or mtls:")
    }
    guard let certificate, let key else { return nil }
    return TLSFileNames(certificate: certificate, key: key, clientAuthorities: authorities)
  }

  private mutating func store() async -> StoreChoice? {
    let text = await string(.store) ?? "sqlite:entitle.sqlite"
    let replicas = await strings(.storeReplicas) ?? []
    let readers = await optionalInteger(.storeReaders, range: 1...256)
    let writers = await optionalInteger(.storeWriters, range: 1...256)
    let creates = await boolean(.create)
    let checkSeconds = await optionalInteger(.storeCheckSeconds, range: 0...3_600)
    for replica in replicas where StoreChoice(parsing: replica)?.isPostgres != true {
      report(.storeReplicas, "postgresql://USER@HOST/DATABASE is expected")
    }
    switch StoreChoice(parsing: text) {
    case .sqlite(var file):
      let given: [(SettingKey, Bool)] = [
        (.storeReplicas, !replicas.isEmpty), (.storeReaders, readers != nil),
        (.storeWriters, writers != nil),
      ]
      for (key, isGiven) in given where isGiven { report(key, "requires a PostgreSQL store") }
      file.creates = creates ?? false
      if let checkSeconds { file.checkTime = .seconds(checkSeconds) }
      return .sqlite(file)
    case .postgres(var configuration):
      let given: [(SettingKey, Bool)] = [
        (.create, creates == true), (.storeCheckSeconds, checkSeconds != nil),
      ]
      for (key, isGiven) in given where isGiven { report(key, "requires an SQLite store") }
      configuration.replicas = replicas
      if let readers { configuration.limits.readingConnections = readers }
      if let writers { configuration.limits.writingConnections = writers }
      return .postgres(configuration)
    case nil:
      // The value may contain a password, so it is not repeated.
      report(.store, "sqlite:PATH or postgresql://USER@HOST/DATABASE is expected")
      return nil
    }
  }

  private mutating func traces() async -> TraceSettings? {
    let text = await string(.otlpEndpoint) ?? ""
    let ratio = await ratio(.traceRatio)
    let headers = await string(.otlpHeadersFile)
    guard !text.isEmpty else {
      let given: [(SettingKey, Bool)] = [
        (.traceRatio, ratio > 0), (.otlpHeadersFile, headers != nil),
      ]
      for (key, isGiven) in given where isGiven {
        report(key, "requires \(SettingKey.otlpEndpoint.rawValue)")
      }
      return nil
    }
    do throws(OutboundAddress.Invalid) {
      return TraceSettings(
        collector: try OutboundAddress(parsing: text), ratio: ratio, headersPath: headers)
    } catch {
      let hint = "; secrets belong into \(SettingKey.otlpHeadersFile.rawValue)"
      report(.otlpEndpoint, "\(error)\(error.mayHoldSecret ? hint : "")")
      return nil
    }
  }

  private mutating func auditLog() async -> AuditLogTarget? {
    guard let text = await string(.auditLog) else { return nil }
    let target = AuditLogTarget(parsing: text)
    if target == nil { report(.auditLog, "a path or fd:NUMBER is expected") }
    return target
  }

  private mutating func nodeName() async -> String {
    guard let name = await string(.nodeName) else { return Self.hostName }
    // A NUL cannot be sent.
    if name.isEmpty || name.utf8.count > 256 || name.utf8.contains(0) {
      report(.nodeName, "1 to 256 bytes of text are expected")
    }
    return name
  }

  private static var hostName: String {
    // Linux limits names of hosts to 64 bytes.
    var name = [CChar](repeating: 0, count: 65)
    let isKnown = gethostname(&name, name.count - 1) == 0 && name[0] != 0
    return isKnown
      ? String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      : "localhost"
  }

  /// - Parameter anchors: All roots that are trusted. A server that accepts data of Production never
  ///   has a virtual time. They do not change while it runs.
  private mutating func developmentClock(
    _ anchors: TrustAnchors, trustsApple: Bool
  ) async -> OutboundAddress? {
    guard let text = await string(.developmentClock), !text.isEmpty else { return nil }
    if anchors.trusts(.production) {
      let names = anchors.named.contains { $0.anchor.environments.contains(.production) }
      let causes = [
        names ? "\(SettingKey.trustRoots.rawValue) names one" : nil,
        trustsApple ? "Apple's are, unless \(SettingKey.withoutAppleRoots.rawValue) is set" : nil,
      ].compactMap(\.self)
      report(
        .developmentClock,
        "possible only where no root is trusted for Production: \(causes.joined(separator: "; "))")
    }
    do throws(OutboundAddress.Invalid) {
      return try OutboundAddress(parsing: text)
    } catch {
      report(.developmentClock, "\(error)")
      return nil
    }
  }

  private mutating func appStoreAddresses() async -> AppStoreServerAddresses {
    guard let text = await string(.appStoreAPI), !text.isEmpty else {
      return AppStoreServerAddresses()
    }
    do throws(OutboundAddress.Invalid) {
      return try AppStoreServerAddresses(parsing: text)
    } catch {
      report(.appStoreAPI, "\(error)")
      return AppStoreServerAddresses()
    }
  }

  private mutating func trustAnchors(
    named names: [String], beside others: TrustAnchors
  ) -> TrustAnchors {
    var anchors = others
    for name in names {
      do {
        try anchors.trust(setting: name) {
          [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0)))
        }
      } catch {
        report(.trustRoots, "\(name): \(error)")
      }
    }
    return anchors
  }

  // MARK: Plain values

  private mutating func string(_ key: SettingKey) async -> String? {
    await read(key, "text is expected") { try await $0.fetchString(forKey: $1) }
  }

  private mutating func strings(_ key: SettingKey) async -> [String]? {
    await read(key, "a list is expected") { try await $0.fetchStringArray(forKey: $1) }
  }

  private mutating func boolean(_ key: SettingKey) async -> Bool? {
    await read(key, "true or false is expected") { try await $0.fetchBool(forKey: $1) }
  }

  private mutating func integer(_ key: SettingKey, default fallback: Int, range: ClosedRange<Int>)
    async -> Int
  {
    await optionalInteger(key, range: range) ?? fallback
  }

  private mutating func optionalInteger(_ key: SettingKey, range: ClosedRange<Int>) async -> Int? {
    let expected = "an integer from \(range.lowerBound) to \(range.upperBound) is expected"
    guard let value = await read(key, expected, { try await $0.fetchInt(forKey: $1) }) else {
      return nil
    }
    if !range.contains(value) { report(key, expected) }
    return range.contains(value) ? value : nil
  }

  /// A part from 0 to 1; 0 if it is not set.
  private mutating func ratio(_ key: SettingKey) async -> Double {
    let expected = "a number from 0 to 1 is expected"
    guard let value = await read(key, expected, { try await $0.fetchDouble(forKey: $1) }) else {
      return 0
    }
    if !(0...1).contains(value) { report(key, expected) }
    return value
  }

  private mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ key: SettingKey, default fallback: Value
  ) async -> Value where Value.RawValue == String {
    guard let text = await string(key) else { return fallback }
    guard let value = Value(rawValue: text) else {
      let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
      report(key, "\(text): unknown; allowed: \(allowed)")
      return fallback
    }
    return value
  }

  private mutating func read<Value>(
    _ key: SettingKey, _ expected: String,
    _ fetch: (ConfigReader, ConfigKey) async throws -> Value?
  ) async -> Value? {
    do {
      return try await fetch(config, ConfigKey([key.rawValue]))
    } catch {
      report(key, expected)
      return nil
    }
  }
}

/// All settings, by their names in the configuration file. The option has dashes instead of
/// underscores. The environment variable is in capitals after `ENTITLE_`, and separates lists by
/// commas.
enum SettingKey: String, CaseIterable {
  case listen
  case httpListen = "http_listen"
  case webhookListen = "webhook_listen"
  case webhookTrustedProxies = "webhook_trusted_proxies"
  case probeListen = "probe_listen"
  case corsOrigins = "cors_origins"
  case catalog
  case store
  case nodeName = "node_name"
  case create
  case storeCheckSeconds = "store_check_seconds"
  case storeReplicas = "store_replicas"
  case storeReaders = "store_readers"
  case storeWriters = "store_writers"
  case stalenessSeconds = "staleness_seconds"
  case changeRetentionDays = "change_retention_days"
  case auditRetentionDays = "audit_retention_days"
  case auditLog = "audit_log"
  case trustRoots = "trust_roots"
  case withoutAppleRoots = "without_apple_roots"
  case appStoreAPI = "app_store_api"
  case developmentClock = "development_clock"
  case credentials
  case allowUnprotectedListen = "allow_unprotected_listen"
  case tlsCertificate = "tls_certificate"
  case tlsKey = "tls_key"
  case tlsClientCA = "tls_client_ca"
  case verificationWorkers = "verification_workers"
  case verificationQueue = "verification_queue"
  case certificateStatus = "certificate_status"
  case cacheMegabytes = "cache_megabytes"
  case memoryBudgetMegabytes = "memory_budget_megabytes"
  case maximumConnections = "maximum_connections"
  case shortConnectionsPerSecond = "short_connections_per_second"
  case idleSeconds = "idle_seconds"
  case shutdownSeconds = "shutdown_seconds"
  case logLevel = "log_level"
  case logFormat = "log_format"
  case otlpEndpoint = "otlp_endpoint"
  case traceRatio = "trace_ratio"
  case otlpHeadersFile = "otlp_headers_file"

  var environmentVariable: String { Self.environmentPrefix + rawValue.uppercased() }

  static let environmentPrefix = "ENTITLE_"
  /// The path of the configuration file. The only variable that is not a setting.
  static let configurationFileVariable = environmentPrefix + "CONFIG"
}
