import Foundation

/// Runs a program. `Process` of Foundation would also wait for the children that the program
/// leaves, and a server is such a child.
enum EphemeralPostgresProgram {
  /// Starts it in its own session, so that signals of a terminal do not reach it. It inherits no
  /// other open files.
  ///
  /// - Parameters:
  /// - words: the path and the arguments.
  /// - input: a descriptor to read from; nil for no input.
  /// - output: a file to write to; nil to discard the output.
  static func start(
    _ words: [String], input: CInt? = nil, output: String? = nil, errors: String? = nil
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    let writing = O_WRONLY | O_CREAT | O_TRUNC
    posix_spawn_file_actions_addopen(&actions, 1, output ?? "/dev/null", writing, 0o644)
    posix_spawn_file_actions_addopen(&actions, 2, errors ?? "/dev/null", writing, 0o644)
    // Closed descriptors are ignored.
    for descriptor in CInt(3)..<256 { posix_spawn_file_actions_addclose(&actions, descriptor) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    sigfillset(&defaults)
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    posix_spawnattr_setflags(&attributes, Int16(flags))

    // The user of the server may not be allowed to enter the working directory of the tests.
    let all = ["/usr/bin/setsid", "/bin/sh", "-c", "cd / && exec \"$@\"", "sh"] + words
    var copies = all.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    var process: pid_t = 0
    let outcome = posix_spawn(&process, all[0], &actions, &attributes, &copies, environ)
    guard outcome == 0 else {
      throw EphemeralPostgresError(
        "\(words[0]) cannot be run: \(String(cString: strerror(outcome)))")
    }
    return process
  }

  /// Waits for the program.
  ///
  /// - Returns: its exit code, or the negative number of the signal that ended it.
  static func wait(for process: pid_t) -> CInt {
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : -signal
  }
}
