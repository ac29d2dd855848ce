import Configuration
import Foundation
import Logging
import PostgresStore
import RPCServer
import SystemPackage
import Verification
import Wire
import Yams

/// What `entitled` runs with, checked.
struct Settings: Sendable {
  var listen: [ServerAddress]
  var catalogPath: String
  var store: StoreChoice
  /// How long a held answer may be served without a look at what other nodes have written.
  var staleness: Duration
  /// How long the change feed is kept; nil: for ever.
  var changeRetention: Duration?
  var trustAnchors: TrustAnchors
  var allowUnprotectedListen: Bool
  var verificationWorkers: Int
  /// Payloads that may wait for a worker.
  var verificationQueue: Int
  /// Whether issuers are asked for the status of their certificates, and what that counts for.
  var certificateStatus: StatusPolicy
  var cacheBytes: Int
  var maximumConnections: Int
  var shortConnectionsPerSecond: Int
  var idleTime: Duration
  var shutdownTime: Duration
  var logLevel: Logger.Level
  var logFormat: LogFormat

  enum LogFormat: String, CaseIterable, Sendable {
    case text
    case json
  }
}

extension Settings {
  /// Reads the settings: flags first, then the environment, then the file.
  ///
  /// - Parameters:
  ///   - flags: what the command line gave, by key.
  ///   - file: the configuration file; nil: the one that the environment names, if any.
  /// - Throws: ``StartFailure`` with all that is wrong, a line each.
  static func load(
    flags: [SettingKey: ConfigContent], file: String?, environment: [String: String]
  ) async throws -> Settings {
    let file = file ?? environment[SettingKey.configurationFileVariable]
    var problems = unknownVariables(in: environment)
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
    if let file {
      problems += unknownKeys(inFile: file)
      do {
        providers.append(try await FileProvider<YAMLSnapshot>(filePath: FilePath(file)))
      } catch {
        throw StartFailure(
          .badConfiguration, "the configuration file \(file) cannot be read: \(error)")
      }
    }
    var reader = SettingsReader(config: ConfigReader(providers: providers), problems: problems)
    let settings = await reader.settings()
    guard let settings, reader.problems.isEmpty else {
      throw StartFailure(.badConfiguration, reader.problems.joined(separator: "\n"))
    }
    return settings
  }

  /// What Kubernetes sets in every container for a Service, here one whose name begins with
  /// `entitle`: nobody can keep it from that, and no setting is spelled so.
  private static var serviceVariable: Regex<Substring> {
    /.+_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT(?:_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)/
  }

  /// A misspelled variable would be ignored in silence otherwise.
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

  private static func unknownKeys(inFile path: String) -> [String] {
    // A file that cannot be read or parsed is reported by its provider.
    guard let text = try? String(contentsOfFile: path, encoding: .utf8),
      let mapping = try? Yams.compose(yaml: text)?.mapping
    else { return [] }
    let known = SettingKey.allCases.map(\.rawValue)
    return mapping.keys.compactMap { key in
      guard let name = key.scalar?.string, !known.contains(name) else { return nil }
      let line = key.mark.map { " line \($0.line)," } ?? ""
      return "\(path),\(line) \(name): unknown setting; known: \(known.joined(separator: ", "))"
    }
  }
}

/// Reads one setting after the other and collects what is wrong with them.
private struct SettingsReader {
  let config: ConfigReader
  var problems: [String]

  mutating func settings() async -> Settings? {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let listen = await strings(.listen) ?? ["127.0.0.1:7100"]
    let addresses = listen.compactMap { address(parsing: $0) }
    if listen.isEmpty { report(.listen, "at least one address is needed") }
    let catalogPath = await string(.catalog)
    if catalogPath == nil { report(.catalog, "missing: the path of the catalog file") }
    let store = await store()
    let staleness = await integer(.stalenessSeconds, default: 5, range: 1...3_600)
    let retention = await integer(.changeRetentionDays, default: 30, range: 0...3_650)
    let anchors = trustAnchors(named: await strings(.trustRoots) ?? [])
    let workers = await integer(.verificationWorkers, default: cores, range: 1...1_024)
    // One submission must fit: its batch is queued as a whole.
    let queue = await integer(
      .verificationQueue, default: 4_096,
      range: SubmitSignedTransactionsRequest.maximumItems...1_000_000)
    let status = await choice(.certificateStatus, default: StatusPolicy.off)
    let cache = await integer(.cacheMegabytes, default: 256, range: 1...1_048_576)
    let connections = await integer(.maximumConnections, default: 10_000, range: 1...1_000_000)
    let accepts = await integer(.shortConnectionsPerSecond, default: 2500, range: 1...1_000_000)
    let idle = await integer(.idleSeconds, default: 600, range: 1...86_400)
    let shutdown = await integer(.shutdownSeconds, default: 10, range: 1...3_600)
    let level = await choice(.logLevel, default: Logger.Level.info)
    let format = await choice(.logFormat, default: Settings.LogFormat.text)
    let unprotected = await boolean(.allowUnprotectedListen) ?? false
    guard let catalogPath, let store else { return nil }
    return Settings(
      listen: addresses, catalogPath: catalogPath, store: store, staleness: .seconds(staleness),
      changeRetention: retention == 0 ? nil : .seconds(retention * 86_400), trustAnchors: anchors,
      allowUnprotectedListen: unprotected, verificationWorkers: workers,
      verificationQueue: queue, certificateStatus: status, cacheBytes: cache << 20,
      maximumConnections: connections, shortConnectionsPerSecond: accepts, idleTime: .seconds(idle),
      shutdownTime: .seconds(shutdown), logLevel: level, logFormat: format)
  }

  private mutating func report(_ key: SettingKey, _ problem: String) {
    problems.append("\(key.rawValue): \(problem)")
  }

  // MARK: Values with a form of their own

  private mutating func address(parsing text: String) -> ServerAddress? {
    do {
      return try ServerAddress(parsing: text)
    } catch {
      report(.listen, "\(text): \(error)")
      return nil
    }
  }

  private mutating func store() async -> StoreChoice? {
    let text = await string(.store) ?? "sqlite:entitle.sqlite"
    let replicas = await strings(.storeReplicas) ?? []
    let readers = await optionalInteger(.storeReaders, range: 1...256)
    let writers = await optionalInteger(.storeWriters, range: 1...256)
    for replica in replicas where StoreChoice(parsing: replica)?.isPostgres != true {
      report(.storeReplicas, "postgresql://USER@HOST/DATABASE is expected")
    }
    switch StoreChoice(parsing: text) {
    case .sqlite(let path):
      let given: [(SettingKey, Bool)] = [
        (.storeReplicas, !replicas.isEmpty), (.storeReaders, readers != nil),
        (.storeWriters, writers != nil),
      ]
      for (key, isGiven) in given where isGiven { report(key, "only a PostgreSQL store has it") }
      return .sqlite(path: path)
    case .postgres(var configuration):
      configuration.replicas = replicas
      if let readers { configuration.limits.readingConnections = readers }
      if let writers { configuration.limits.writingConnections = writers }
      return .postgres(configuration)
    case nil:
      // The text may hold a password.
      report(.store, "sqlite:PATH or postgresql://USER@HOST/DATABASE is expected")
      return nil
    }
  }

  private mutating func trustAnchors(named names: [String]) -> TrustAnchors {
    var anchors = TrustAnchors.apple
    for name in names {
      do {
        if name.hasPrefix("sha256:") {
          try anchors.trust(fingerprint: name)
        } else {
          let contents = try Data(contentsOf: URL(fileURLWithPath: name))
          try anchors.trust(certificateFile: [UInt8](contents))
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
