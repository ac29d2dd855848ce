import Glibc
import Programs
import Synchronization

/// Where a report goes. It is opened before the run, whose results are not to be lost by a wrong path,
/// and keeps what it held until there is something to write. What is there is written to, and not
/// replaced by another file: it may be a device, a pipe or a link.
final class ReportFile: Sendable {
  private let path: String
  private let isStandardOutput: Bool
  private let descriptor: CInt
  private let isCleared = Mutex(false)

  /// - Parameter path: `-` and `/dev/stdout` are stdout.
  /// - Throws: ``CommandFailure`` when it cannot be written.
  init(_ path: String) throws(CommandFailure) {
    // Not everything that can be stdout can be opened by its name: sockets cannot.
    isStandardOutput = path == "-" || path == "/dev/stdout"
    self.path = path
    let opened =
      isStandardOutput ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    guard opened >= 0 else { throw Self.failure(path, errno) }
    descriptor = opened
  }

  deinit {
    if !isStandardOutput { close(descriptor) }
  }

  /// Writes lines after those before; the first ones take the place of what a file held.
  ///
  /// - Throws: ``CommandFailure``; without a message when nobody reads it.
  func write(_ text: String) throws(CommandFailure) {
    if !isCleared.withLock({ exchange(&$0, with: true) }) { try clear() }
    var rest = Array((text.hasSuffix("\n") ? text : text + "\n").utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EPIPE {
        throw CommandFailure(.failed, nil)
      } else if errno != EINTR {
        throw Self.failure(path, errno)
      }
    }
  }

  private func clear() throws(CommandFailure) {
    var information = stat()
    // Only files have a length; stdout belongs to whoever started this program.
    guard !isStandardOutput, fstat(descriptor, &information) == 0,
      information.st_mode & S_IFMT == S_IFREG
    else { return }
    guard ftruncate(descriptor, 0) == 0 else { throw Self.failure(path, errno) }
  }

  private static func failure(_ path: String, _ code: CInt) -> CommandFailure {
    let name = path == "-" ? "stdout" : path
    return CommandFailure(.failed, "\(name) cannot be written: \(String(cString: strerror(code)))")
  }
}
