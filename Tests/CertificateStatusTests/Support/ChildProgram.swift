import Glibc

/// A program that runs with one stream as its stdin and stdout, until it is released.
///
/// Foundation's `Process` now and then misses the end of one of many that run at once.
final class ChildProgram: Sendable {
  private let number: pid_t
  /// Our end. Programs that are started meanwhile do not inherit it, so that closing it ends the
  /// stream.
  private let stream: Int32

  /// - Parameter command: the program's path, and its arguments.
  init(_ command: [String]) throws {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw TestFailure("no stream") }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    let pointers = command.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var number: pid_t = 0
    guard posix_spawn(&number, command[0], &actions, nil, pointers, environ) == 0 else {
      close(ends[0])
      throw TestFailure("\(command[0]) cannot be started")
    }
    (self.number, stream) = (number, ends[0])
  }

  deinit {
    close(stream)
    var status: Int32 = 0
    while waitpid(number, &status, 0) < 0, errno == EINTR {}
  }

  /// What it writes next; nil once it writes no more.
  func read() -> String? {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    var count = -1
    repeat {
      count = recv(stream, &bytes, bytes.count, 0)
    } while count < 0 && errno == EINTR
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}
