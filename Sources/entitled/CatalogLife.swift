import EntitlementService
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the catalog again on SIGHUP, and when its file changes.
struct CatalogLife: Service {
  let file: CatalogFileOnDisk
  /// The version of the file that was read at the start, or an earlier one.
  let seen: CatalogFileOnDisk.Version?
  let hangups: UnixSignalsSequence
  let reloader: CatalogReloader
  let logger: Logger

  /// Soon enough for whoever edits the file and looks at the log; one look costs microseconds. A
  /// watch on the file would not see a file or a link put in its place.
  private static let interval = Duration.seconds(2)
  /// How long a file must stay as it is before it is read: the beginning of one that is still being
  /// written may be a valid catalog of too few products.
  private static let settlingTime = Duration.milliseconds(200)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        group.addTask { await reloadOnHangup() }
        group.addTask { await reloadOnChange() }
      }
    }
  }

  private func reloadOnHangup() async {
    for await _ in hangups {
      logger.info("SIGHUP: the catalog file is read again")
      _ = await reloader.reload()
    }
  }

  private func reloadOnChange() async {
    var seen = seen
    while !Task.isCancelled {
      let version = file.version
      guard version != seen else {
        try? await Task.sleep(for: Self.interval)
        continue
      }
      try? await Task.sleep(for: Self.settlingTime)
      if Task.isCancelled || file.version != version { continue }
      // Known before the file is read: a change in between is seen the next time.
      seen = version
      _ = await reloader.reload()
    }
  }
}
