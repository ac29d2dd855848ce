import Glibc

/// Tells whether a file was replaced or written.
struct FileVersion: Equatable, Sendable {
  private let file: UInt64
  private let size: Int64
  private let seconds: Int
  private let nanoseconds: Int

  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  init(_ status: stat) {
    file = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}

extension stat {
  /// Whether users may read the file whom it is not meant for, as ssh decides it for a private key.
  /// A group may read a secret that another user, such as root, has given it.
  var isReadByOthers: Bool {
    st_mode & (st_uid == getuid() ? 0o077 : 0o007) != 0
  }
}
