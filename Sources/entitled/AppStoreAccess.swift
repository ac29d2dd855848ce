import AppStoreOperations
import AppStoreServerAPI
import EntitlementDomain
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Access to the App Store Server API: the client, and the keys in force, which are reloaded.
final class AppStoreAccess: Sendable {
  let client: AppStoreServerClient
  fileprivate let source: AppStoreSettingsSource
  /// Of the settings file before it was read at the start.
  fileprivate let initialVersion: FileOnDisk.Version?
  private let logger: Logger

  /// Why the section on disk is not in force; nil if it is.
  private let fault = Mutex<String?>(nil)

  /// - Parameter settings: nil for a file without the section.
  init(
    _ settings: AppStoreSettings?, at addresses: AppStoreServerAddresses,
    from source: AppStoreSettingsSource, version: FileOnDisk.Version?, logger: Logger
  ) {
    var limits = AppStoreServerLimits()
    if let factor = settings?.rateFactor { limits.rateFactor = factor }
    client = AppStoreServerClient(
      addresses: addresses, keys: settings?.keys ?? AppStoreServerKeys(), limits: limits
    ) { event in
      Self.log(event, to: logger)
    }
    self.source = source
    initialVersion = version
    self.logger = logger
  }

  /// What operators must do, a sentence each.
  var warnings: [String] {
    let fault = fault.withLock(\.self).map {
      "\(AppStoreSettings.section): the keys cannot be used; the former ones stay in force: \($0)"
    }
    return (fault.map { [$0] } ?? [])
      + client.keys.problems.map { "\(AppStoreSettings.section): \($0.keyID): \($0.problem)" }
  }

  /// Reads the section and its keys. What cannot be used leaves the former keys in force. A file
  /// without the section has no keys. Blocks.
  ///
  /// - Returns: whether it failed.
  fileprivate func reload() -> Bool {
    do throws(AppStoreSettings.Invalid) {
      let keys = try AppStoreSettings.read(source)?.keys ?? AppStoreServerKeys()
      let hadKeys = !client.keys.keys.isEmpty
      client.use(keys)
      fault.withLock { $0 = nil }
      // A change of other settings of a file without keys is not worth a line.
      guard hadKeys || !keys.keys.isEmpty else { return false }
      logger.notice(
        "the keys of the App Store Server API were read again",
        metadata: [
          "keys": .stringConvertible(keys.keys.count),
          "apps": .stringConvertible(keys.bundleIDs.count),
        ])
      return false
    } catch {
      let reason = error.description.replacing("\n", with: "; ")
      let isNew = fault.withLock { fault in
        defer { fault = reason }
        return fault != reason
      }
      // The same fault is reported once, as a file is read until it can be used.
      if isNew {
        logger.error(
          "the keys of the App Store Server API cannot be used; the former ones stay in force",
          metadata: ["reason": "\(reason)"])
      }
      return true
    }
  }

  private static func log(_ event: AppStoreServerKeyEvent, to logger: Logger) {
    let metadata: Logger.Metadata = ["key": "\(event.keyID)", "reason": "\(event.detail)"]
    switch event.kind {
    case .renewed:
      logger.notice("a key of the App Store Server API was renewed", metadata: metadata)
    case .unusable:
      logger.error(
        "a key of the App Store Server API cannot be used; the former one stays in force",
        metadata: metadata)
    }
  }

  /// Time for requests in flight: those of changes that operators began. All else that uses the client
  /// has stopped.
  private static let drainTime = TimeAmount.seconds(1)

  func shutDown() async {
    await client.shutDown(deadline: .now() + Self.drainTime)
  }
}

/// Reloads the keys on SIGHUP and when the settings file changes, and shuts the client down when
/// all that uses it has stopped but for changes that operators began; their outcomes are awaited. The
/// client itself follows the files of keys.
struct AppStoreService: Service {
  /// Nil without a settings file.
  let access: AppStoreAccess?
  /// Nil without `access`.
  let operations: AppStoreOperations?
  let hangups: UnixSignalsSequence

  func run() async throws {
    guard let access else {
      try? await gracefulShutdown()
      return
    }
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        group.addTask { for await _ in hangups { _ = access.reload() } }
        group.addTask {
          // After a failure the files are read again until they can be used: a key may be put in
          // its place after it was named.
          await FilePolling(files: [access.source.file]).run(seen: [access.initialVersion]) {
            access.reload()
          }
        }
      }
    }
    await access.shutDown()
    await operations?.drain(within: Self.drainTime)
  }

  /// The time for the outcomes of changes, which are commits: none waits for Apple any longer.
  private static let drainTime = Duration.seconds(2)
}
