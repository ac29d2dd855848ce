package import Glibc

/// The content of a file with a secret, such as a token or a private key.
package struct SecretFile: Sendable {
  /// Why a file is not used. Says nothing of its content.
  package enum Fault: Error, Hashable, Sendable {
    /// It does not exist, may not be read, or is a directory.
    case unreadable
    /// A regular file is expected.
    case notRegular
    /// Other users may read it.
    case readableByOthers
    /// It has more bytes than are accepted.
    case tooLong
  }

  package let bytes: [UInt8]
  package let version: FileVersion
  /// Whether it can be read once only, such as a pipe.
  package let isSpent: Bool

  /// Reads a file. Blocks.
  ///
  /// - Parameter mayBePipe: false: only a regular file is accepted. Opening a pipe waits for its
  ///   writer, so all else is refused before it is read.
  package init(reading path: String, maximumBytes: Int, mayBePipe: Bool) throws(Fault) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | (mayBePipe ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw Fault.unreadable }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Fault.unreadable }
    isSpent = status.st_mode & S_IFMT != S_IFREG
    guard mayBePipe || !isSpent else { throw Fault.notRegular }
    guard !status.isReadByOthers else { throw Fault.readableByOthers }
    bytes = try Self.contents(of: descriptor, maximumBytes: maximumBytes)
    version = FileVersion(status)
  }

  private static func contents(
    of descriptor: CInt, maximumBytes: Int
  ) throws(Fault) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: maximumBytes)
    while bytes.count <= maximumBytes {
      let count = read(descriptor, &piece, piece.count)
      if count == 0 { return bytes }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Fault.unreadable }
      bytes += piece[..<count]
    }
    throw Fault.tooLong
  }
}

/// Tells whether a file was replaced or written.
package struct FileVersion: Equatable, Sendable {
  private let file: UInt64
  private let size: Int64
  private let seconds: Int
  private let nanoseconds: Int

  /// Nil if there is no file at `path`.
  package init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  package init(_ status: stat) {
    file = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}

extension stat {
  /// Whether users may read the file whom it is not meant for, as ssh decides it for a private key.
  /// A group may read a secret that another user, such as root, has given it.
  package var isReadByOthers: Bool {
    st_mode & (st_uid == getuid() ? 0o077 : 0o007) != 0
  }
}
