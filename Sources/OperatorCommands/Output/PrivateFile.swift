import Glibc
import Programs

/// Writes a file atomically. Only its owner can read it.
enum PrivateFile {
  /// Replaces an existing file. The contents are synced to disk before the rename.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written; an existing file then stays unchanged.
  static func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
    var template = Array((path + ".XXXXXX").utf8CString)
    // `mkstemp` creates the file with mode 0600.
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw failure(path) }
    let code = write(bytes, to: descriptor)
    guard code == 0, rename(template, path) == 0 else {
      let failure = failure(path, code == 0 ? errno : code)
      unlink(template)
      throw failure
    }
  }

  /// Writes all bytes, syncs and closes the descriptor.
  ///
  /// - Returns: 0, or the `errno` of the failure.
  private static func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt {
    var rest = bytes[...]
    var code: CInt = 0
    while !rest.isEmpty, code == 0 {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        code = errno
      }
    }
    if code == 0, fsync(descriptor) != 0 { code = errno }
    if close(descriptor) != 0, code == 0 { code = errno }
    return code
  }

  private static func failure(_ path: String, _ code: CInt = errno) -> CommandFailure {
    CommandFailure(.failed, "\(path): cannot be written: \(String(cString: strerror(code)))")
  }
}
