/// Every setting, by its name in the configuration file. The flag has dashes instead of
/// underscores, the environment variable is in capitals after `ENTITLE_`; lists are separated by
/// commas there.
enum SettingKey: String, CaseIterable {
  case listen
  case catalog
  case store
  case storeReplicas = "store_replicas"
  case storeReaders = "store_readers"
  case storeWriters = "store_writers"
  case stalenessSeconds = "staleness_seconds"
  case changeRetentionDays = "change_retention_days"
  case trustRoots = "trust_roots"
  case allowUnprotectedListen = "allow_unprotected_listen"
  case verificationWorkers = "verification_workers"
  case verificationQueue = "verification_queue"
  case certificateStatus = "certificate_status"
  case cacheMegabytes = "cache_megabytes"
  case maximumConnections = "maximum_connections"
  case shortConnectionsPerSecond = "short_connections_per_second"
  case idleSeconds = "idle_seconds"
  case shutdownSeconds = "shutdown_seconds"
  case logLevel = "log_level"
  case logFormat = "log_format"

  var environmentVariable: String { Self.environmentPrefix + rawValue.uppercased() }

  static let environmentPrefix = "ENTITLE_"
  /// The one variable that is not a setting: it names the file of settings.
  static let configurationFileVariable = environmentPrefix + "CONFIG"
}
