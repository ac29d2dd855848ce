import CatalogFiles
import EntitlementDomain
import EntitlementService
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the catalog file at startup.
enum CatalogLoader {
  /// - Returns: The catalog and its digest.
  /// - Throws: ``StartFailure`` with all errors of the file, one on each line.
  static func load(_ path: String) throws(StartFailure) -> (
    contents: CatalogFile.Contents, digest: String
  ) {
    let reading: CatalogSource.Reading
    do {
      reading = try FileOnDisk(path: path).catalogSource.read()
    } catch {
      throw StartFailure(.badCatalog, "the catalog \(path) cannot be read: \(error.reason)")
    }
    do {
      return (try reading.contents.get(), reading.digest)
    } catch {
      let issues = error.issues.map { "\(path): \($0)" }.joined(separator: "\n")
      throw StartFailure(.badCatalog, "the catalog is not valid\n\(issues)")
    }
  }
}

/// Reloads the catalog on SIGHUP, and when its file changes. SIGHUP opens the audit log again too.
struct CatalogService: Service {
  let file: FileOnDisk
  /// The version of the file before it was read at startup.
  let initialVersion: FileOnDisk.Version?
  let hangups: UnixSignalsSequence
  let reloader: CatalogReloader
  /// Nil when there is none.
  let auditLog: AuditLogFile?
  let logger: Logger

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
      logger.info("SIGHUP: reloading the catalog file")
      auditLog?.reopen()
      _ = await reloader.reload()
    }
  }

  private func reloadOnChange() async {
    await FilePolling(files: [file]).run(seen: [initialVersion]) {
      // Transient: the audit trail could not be written.
      await reloader.reload().isTransient
    }
  }
}

extension FileOnDisk {
  /// The source for ``CatalogReloader``. Reading it blocks.
  var catalogSource: CatalogSource {
    CatalogSource { () throws(CatalogSource.Unreadable) in
      do throws(Unreadable) {
        return try bytes(limit: CatalogFile.maximumBytes)
      } catch {
        throw CatalogSource.Unreadable(error.description)
      }
    }
  }
}
