import Framing
import Glibc
import Wire

/// The file of a Unix socket on which this process listens.
///
/// The kernel does not remove the file when a process ends. A file is stale, and is removed, if
/// connecting to it is refused.
struct UnixSocketFile: Sendable {
  private let path: String
  private let device: dev_t
  private let inode: ino_t

  /// Records the identity of the file. Nil if there is no socket at the path.
  init?(at path: String) {
    guard let status = Self.status(of: path), status.st_mode & S_IFMT == S_IFSOCK else {
      return nil
    }
    self.path = path
    self.device = status.st_dev
    self.inode = status.st_ino
  }

  /// Removes the file, unless another server has replaced it.
  func remove() {
    guard let status = Self.status(of: path), status.st_dev == device, status.st_ino == inode
    else {
      return
    }
    _ = unlink(path)
  }

  /// Removes a stale socket file.
  ///
  /// - Throws: ``RPCServerError`` if a server accepts connections there or the file is not a
  ///   socket.
  static func removeStale(at path: String) throws(RPCServerError) {
    let address = ServerAddress.unix(path: path)
    guard let status = status(of: path) else {
      return
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw RPCServerError(.notASocket, address: address)
    }
    switch connectError(path) {
    case ECONNREFUSED:
      if unlink(path) != 0, errno != ENOENT {
        throw RPCServerError(.permissionDenied, address: address, errno: errno)
      }
    case ENOENT:
      return
    case EACCES, EPERM:
      throw RPCServerError(.permissionDenied, address: address, errno: EACCES)
    default:
      // This includes a server whose accept queue is full (EAGAIN).
      throw RPCServerError(.addressInUse, address: address)
    }
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  /// Tries to connect without waiting. Returns the error number, or 0 on success.
  private static func connectError(_ path: String) -> CInt {
    let descriptor = socket(
      AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else {
      return errno
    }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count <= ServerAddress.maximumPathLength else {
      return ENAMETOOLONG
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return result == 0 ? 0 : errno
  }
}
