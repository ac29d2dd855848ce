import Foundation
import Glibc
import Synchronization

/// A process that this run has started. Its output goes to files.
final class LocalProcess: Sendable {
  private struct State {
    /// Nil once the process has been reaped, since its id may then be reused.
    var identifier: pid_t?
    var status: CInt?
    var waiters: [CheckedContinuation<CInt, Never>] = []
  }

  private let state: Mutex<State>

  /// Changes to the folder, closes inherited files, and becomes the command. An inherited
  /// connection would stay open after this program has closed it.
  private static let prelude = """
    cd "$1" && shift || exit
    for open in /proc/self/fd/*; do
      if ((${open##*/} > 2)); then eval "exec ${open##*/}>&-"; fi
    done
    exec "$@"
    """

  /// - Parameters:
  ///   - command: a program, looked up in the `PATH`, and its arguments.
  /// - folder: its working directory, by which ``ProcessTable`` finds its children.
  /// - output: the files of stdout and stderr; the output is appended.
  /// - Throws: ``ChaosFailure`` when it cannot be started.
  init(
    _ command: [String], in folder: String, environment: [String: String] = [:],
    output: (standard: String, errors: String)
  ) throws {
    let own = ProcessInfo.processInfo.environment
    let variables = own.filter { ["PATH", "HOME", "LD_LIBRARY_PATH"].contains($0.key) }
      .merging(environment) { $1 }
    let number = try Self.spawn(
      ["/bin/bash", "-c", Self.prelude, "bash", folder] + command,
      variables.map { "\($0.key)=\($0.value)" }, output)
    state = Mutex(State(identifier: number))
    Thread.detachNewThread { [self] in reap(number) }
  }

  /// Sends a signal, unless the process has ended.
  func signal(_ number: CInt) {
    state.withLock { state in
      if let identifier = state.identifier { _ = kill(identifier, number) }
    }
  }

  var isRunning: Bool { state.withLock { $0.identifier != nil } }

  /// Waits for the end of the process.
  ///
  /// - Returns: the status from `waitpid`: 0 is success.
  @discardableResult
  func end() async -> CInt {
    await withCheckedContinuation { continuation in
      let status = state.withLock { state -> CInt? in
        if state.status == nil { state.waiters.append(continuation) }
        return state.status
      }
      if let status { continuation.resume(returning: status) }
    }
  }

  private static func spawn(
    _ command: [String], _ environment: [String], _ output: (standard: String, errors: String)
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let writing = O_WRONLY | O_CREAT | O_APPEND
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.standard, writing, 0o644)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, output.errors, writing, 0o644)

    // The child has its own process group, since terminal signals are for this program. It has
    // default signal handlers.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    posix_spawnattr_setflags(&attributes, Int16(flags))

    let argumentPointers = command.map { strdup($0) } + [nil]
    let environmentPointers = environment.map { strdup($0) } + [nil]
    defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
    var number: pid_t = 0
    let code = posix_spawn(
      &number, command[0], &actions, &attributes, argumentPointers, environmentPointers)
    guard code == 0 else { throw ChaosFailure("\(command[0]) cannot be started: error \(code)") }
    return number
  }

  private func reap(_ number: pid_t) {
    // Until it is reaped it is a zombie with its id, so that no signal reaches another process.
    var information = siginfo_t()
    while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    var status: CInt = 0
    let waiters = state.withLock { state in
      while waitpid(number, &status, 0) < 0, errno == EINTR {}
      state.identifier = nil
      state.status = status
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: status) }
  }
}
