import Foundation

/// A file that is read again when it changes: its content, and a version that detects changes.
struct FileOnDisk: Sendable {
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

  /// A file that cannot be read, and why.
  struct Unreadable: Error, CustomStringConvertible {
    /// One sentence for people.
    let description: String
  }

  /// The content, at most one byte more than `limit`, which shows that the file is too large. Blocks.
  ///
  /// - Parameter check: says why the file is not used; nil if it is. For the file that is then read.
  func bytes(
    limit: Int, unless check: (stat) -> String? = { _ in nil }
  ) throws(Unreadable) -> [UInt8] {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw Unreadable(description: "the file does not exist or is not accessible")
    }
    // Opening a file of another kind, such as a pipe, may block forever.
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    guard isRegular else { throw Unreadable(description: "it is not a regular file") }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Unreadable(description: "permission denied") }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard fstat(descriptor, &status) == 0 else { throw Unreadable(description: "an I/O error") }
    if let reason = check(status) { throw Unreadable(description: reason) }
    do {
      return [UInt8](try file.read(upToCount: limit + 1) ?? Data())
    } catch {
      throw Unreadable(description: "permission denied, or an I/O error")
    }
  }

  /// The mode bits for permissions; nil if the file does not exist.
  var mode: mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }
}

/// Calls a function when one of some files has changed.
struct FilePolling: Sendable {
  let files: [FileOnDisk]

  /// The polling interval: short for an operator who edits a file and reads the log. A poll costs
  /// microseconds. inotify on a file would miss a replaced file or link.
  private static let interval = Duration.seconds(2)
  /// How long files must be unchanged before they are read: a file that is still being written may be
  /// valid and lack its end, and a certificate and its key are written one after the other.
  private static let settlingTime = Duration.milliseconds(200)

  /// Returns when the task is cancelled.
  ///
  /// - Parameters:
  ///   - seen: the versions that were read at the start.
  ///   - changed: returns whether the files must be read again, although they have not changed.
  func run(
    seen: [FileOnDisk.Version?], changed: () async -> Bool
  ) async {
    var seen = seen
    while !Task.isCancelled {
      let versions = files.map(\.version)
      guard versions != seen else {
        try? await Task.sleep(for: Self.interval)
        continue
      }
      try? await Task.sleep(for: Self.settlingTime)
      if Task.isCancelled || files.map(\.version) != versions { continue }
      // Recorded before the files are read, so that a change in between is detected later.
      let former = seen
      seen = versions
      if await changed() {
        seen = former
        try? await Task.sleep(for: Self.interval)
      }
    }
  }
}
