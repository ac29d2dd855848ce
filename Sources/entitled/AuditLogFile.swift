import EntitlementStore
import Glibc
import Logging
import RPCEndpoints
import Synchronization
import Wire

/// Where the audit trail is written at once, as JSON lines: a file, or a descriptor that was passed
/// to the process.
enum AuditLogTarget: Hashable, Sendable, CustomStringConvertible {
  case file(String)
  case descriptor(Int32)

  /// Parses `fd:N` or a path. Nil if the number is malformed or the text is empty.
  init?(parsing text: String) {
    let prefix = "fd:"
    guard text.hasPrefix(prefix) else {
      guard !text.isEmpty, !text.utf8.contains(0) else { return nil }
      self = .file(text)
      return
    }
    guard let number = Int32(text.dropFirst(prefix.count)), number > 0 else { return nil }
    self = .descriptor(number)
  }

  var description: String {
    switch self {
    case .file(let path): path
    case .descriptor(let number): "fd:\(number)"
    }
  }
}

/// Writes entries of the audit trail as JSON lines, after their commit and before their calls are
/// answered.
///
/// The line is a copy: the entry is durable in the database by then. So a line that cannot be written
/// fails no call, and is not flushed to the disk. It is logged and counted instead, and the positions
/// of a chain show which lines are missing.
final class AuditLogFile: Sendable {
  private struct State {
    var descriptor: Int32
    /// A line was written in part, so the next one begins on a new line.
    var isTorn = false
    var isFailing = false
  }

  private let target: AuditLogTarget
  private let logger: Logger
  private let state: Mutex<State>
  private let failures = Atomic<Int64>(0)

  /// POSIX: a pipe that is ready for writing takes this much without blocking (PIPE_BUF).
  private static let chunk = 4_096
  /// How long a reader that is behind delays an answer.
  private static let patience: Int32 = 100

  /// - Throws: ``StartFailure`` when it cannot be opened for appending.
  init(_ target: AuditLogTarget, logger: Logger) throws(StartFailure) {
    self.target = target
    self.logger = logger
    switch target {
    case .file(let path):
      let descriptor = Self.open(path)
      guard descriptor >= 0 else {
        throw StartFailure(
          .badConfiguration,
          "the audit log \(path) cannot be opened: \(String(cString: strerror(errno)))")
      }
      state = Mutex(State(descriptor: descriptor))
    case .descriptor(let number):
      let flags = fcntl(number, F_GETFL)
      guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
        throw StartFailure(
          .badConfiguration, "the audit log fd:\(number) is not open for writing")
      }
      state = Mutex(State(descriptor: number))
    }
  }

  /// Lines that could not be written.
  var failureCount: Int64 { failures.load(ordering: .relaxed) }

  private static func open(_ path: String) -> Int32 {
    // Without blocking: a named pipe may have no reader.
    Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
  }

  /// Opens the file again, as after a log rotation. The former file stays in use if that fails.
  func reopen() {
    guard case .file(let path) = target else { return }
    let descriptor = Self.open(path)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      logger.error(
        "the audit log cannot be opened again, the former file stays in use",
        metadata: ["file": "\(path)", "reason": "\(reason)"])
      return
    }
    let former = state.withLock { state in
      defer {
        state.descriptor = descriptor
        state.isTorn = false
      }
      return state.descriptor
    }
    _ = close(former)
  }

  func write(_ entries: [AuditEntry]) {
    state.withLock { state in
      for entry in entries { write(entry, &state) }
    }
  }

  private func write(_ entry: AuditEntry, _ state: inout State) {
    var line: [UInt8] = state.isTorn ? [UInt8(ascii: "\n")] : []
    var reason: String?
    do {
      line += try AuditedCallEntry(entry).jsonEncoded() + [UInt8(ascii: "\n")]
      let (written, code) = Self.write(line, to: state.descriptor)
      if code != 0 {
        reason = String(cString: strerror(code))
        state.isTorn = state.isTorn || written > 0
      } else {
        state.isTorn = false
      }
    } catch {
      reason = "the entry has no JSON form"
    }
    if let reason {
      failures.add(1, ordering: .relaxed)
      // Once, not for each line.
      if !state.isFailing {
        logger.error(
          "the audit log cannot be written",
          metadata: ["file": "\(target)", "reason": "\(reason)"])
      }
    } else if state.isFailing {
      logger.notice("the audit log can be written again", metadata: ["file": "\(target)"])
    }
    state.isFailing = reason != nil
  }

  /// - Returns: the number of written bytes, and the error; 0 for none.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> (Int, Int32) {
    var written = 0
    while written < bytes.count {
      var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let count = poll(&ready, 1, patience)
      if count < 0, errno == EINTR { continue }
      if count < 0 { return (written, errno) }
      if count == 0 { return (written, EAGAIN) }
      let result = bytes.withUnsafeBytes { buffer in
        Glibc.write(
          descriptor, buffer.baseAddress?.advanced(by: written),
          min(chunk, buffer.count - written))
      }
      if result < 0, errno == EINTR { continue }
      if result < 0 { return (written, errno) }
      written += result
    }
    return (written, 0)
  }
}
