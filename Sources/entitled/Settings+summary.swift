import EntitlementDomain
import Logging
import Verification
import Wire

extension Settings {
  /// What is in force, for `--check-config`: a setting a line.
  func summary(catalog: CatalogFile.Contents) -> String {
    let settings: [(SettingKey, String)] = [
      (.listen, listen.map(\.description).joined(separator: ", ")),
      (.catalog, catalogPath),
      (.store, store.description),
      (.stalenessSeconds, String(staleness.components.seconds)),
      (.changeRetentionDays, String((changeRetention?.components.seconds ?? 0) / 86_400)),
      (.trustRoots, (["Apple's"] + trustAnchors.named.map { "\($0)" }).joined(separator: ", ")),
      (.allowUnprotectedListen, String(allowUnprotectedListen)),
      (.verificationWorkers, String(verificationWorkers)),
      (.verificationQueue, String(verificationQueue)),
      (.certificateStatus, certificateStatus.rawValue),
      (.cacheMegabytes, String(cacheBytes >> 20)),
      (.maximumConnections, String(maximumConnections)),
      (.shortConnectionsPerSecond, String(shortConnectionsPerSecond)),
      (.idleSeconds, String(idleTime.components.seconds)),
      (.shutdownSeconds, String(shutdownTime.components.seconds)),
      (.logLevel, logLevel.rawValue),
      (.logFormat, logFormat.rawValue),
    ]
    var lines = settings.map { "\($0.rawValue): \($1)" }
    lines += catalog.warnings.map { "\(catalogPath): \($0)" }
    let counts = catalog.catalog
    lines.append(
      "The configuration is valid: \(counts.apps.count) apps, \(counts.products.count) products, "
        + "\(counts.entitlements.count) entitlements.")
    return lines.joined(separator: "\n")
  }
}
