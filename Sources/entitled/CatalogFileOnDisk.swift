import EntitlementDomain
import EntitlementService
import Foundation

/// The catalog's file: what is in it, and whether it may have changed.
struct CatalogFileOnDisk: Sendable {
  let path: String

  /// Tells one content of the file from the next without reading it. Symbolic links are followed,
  /// since that is how Kubernetes swaps what it mounts; editors put another file in its place.
  struct Version: Hashable, Sendable {
    private let device: UInt64
    private let file: UInt64
    private let size: Int64
    private let modified: Moment
    /// Also when the moment of modification was set back.
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

  /// Nil when there is no file.
  var version: Version? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Version(status)
  }

  /// The file as the use cases read it. Blocks.
  var source: CatalogSource {
    CatalogSource { () throws(CatalogSource.Unreadable) in try bytes() }
  }

  private func bytes() throws(CatalogSource.Unreadable) -> [UInt8] {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw CatalogSource.Unreadable("there is no such file, or it may not be looked at")
    }
    // Opening another kind of file may never return.
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CatalogSource.Unreadable("it is not a regular file")
    }
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { try? file.close() }
      // One byte more than is accepted tells that there is more.
      return [UInt8](try file.read(upToCount: CatalogFile.maximumBytes + 1) ?? Data())
    } catch {
      throw CatalogSource.Unreadable("it may not be read, or reading it failed")
    }
  }
}
