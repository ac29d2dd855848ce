import CatalogFiles
import EntitlementDomain
import EntitlementService
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// The catalog file: its content, and a version that detects changes.
struct CatalogFileOnDisk: Sendable {
  let path: String

  /// Identifies the content of the file without reading it. Symbolic links are followed, as
  /// Kubernetes replaces mounted files by changing a link. Many editors replace the file itself.
  struct Version: Hashable, Sendable {
    private let device: UInt64
    private let file: UInt64
    private let size: Int64
    private let modified: Moment
    /// Detects changes that set back the modification time.
    private let changed: Moment

    private struct Moment: Hashable, Sendable {
      let seconds: Int
      let nanoseconds: Int

      init(_ time: timespec) {
        seconds = time.tv_sec
        nanoseconds = time.tv_nsec
      }
    }

    fileprivate init(_ status: stat) {
      device = UInt64(status.st_dev)
      file = UInt64(status.st_ino)
      size = Int64(status.st_size)
      modified = Moment(status.st_mtim)
      changed = Moment(status.st_ctim)
    }
  }

  /// The current version; nil if the file does not exist.
  var version: Version? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Version(status)
  }

  /// The source for ``CatalogReloader``. Reading it blocks.
  var source: CatalogSource {
    CatalogSource { () throws(CatalogSource.Unreadable) in try bytes() }
  }

  private func bytes() throws(CatalogSource.Unreadable) -> [UInt8] {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw CatalogSource.Unreadable("the file does not exist or is not accessible")
    }
    // Opening a file of another kind, such as a pipe, may block forever.
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CatalogSource.Unreadable("it is not a regular file")
    }
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { try? file.close() }
      // One byte above the limit shows that the file is too large.
      return [UInt8](try file.read(upToCount: CatalogFile.maximumBytes + 1) ?? Data())
    } catch {
      throw CatalogSource.Unreadable("permission denied, or an I/O error")
    }
  }
}

/// Reads the catalog file at startup.
enum CatalogLoader {
  /// - Returns: The catalog and its digest.
  /// - Throws: ``StartFailure`` with all errors of the file, one on each line.
  static func load(_ path: String) throws(StartFailure) -> (
    contents: CatalogFile.Contents, digest: String
  ) {
    let reading: CatalogSource.Reading
    do {
      reading = try CatalogFileOnDisk(path: path).source.read()
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
  let file: CatalogFileOnDisk
  /// The version of the file before it was read at startup.
  let initialVersion: CatalogFileOnDisk.Version?
  let hangups: UnixSignalsSequence
  let reloader: CatalogReloader
  /// Nil when there is none.
  let auditLog: AuditLogFile?
  let logger: Logger

  /// The polling interval: short for an operator who edits the file and reads the log. A poll costs
  /// microseconds. inotify on the file would miss a replaced file or link.
  private static let interval = Duration.seconds(2)
  /// How long a file must be unchanged before it is read: a file that is still being written may be
  /// a valid catalog with too few products.
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
      logger.info("SIGHUP: reloading the catalog file")
      auditLog?.reopen()
      _ = await reloader.reload()
    }
  }

  private func reloadOnChange() async {
    var seen = initialVersion
    while !Task.isCancelled {
      let version = file.version
      guard version != seen else {
        try? await Task.sleep(for: Self.interval)
        continue
      }
      try? await Task.sleep(for: Self.settlingTime)
      if Task.isCancelled || file.version != version { continue }
      // Recorded before the file is read, so that a change in between is detected later.
      let former = seen
      seen = version
      if await reloader.reload().isTransient {
        // The audit trail could not be written. The file is read again.
        seen = former
        try? await Task.sleep(for: Self.interval)
      }
    }
  }
}
