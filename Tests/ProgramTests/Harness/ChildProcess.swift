import Foundation
import Glibc
import Synchronization

/// A running program of the package. A thread reads its output.
final class ChildProcess: Sendable {
  let journal = ProcessJournal()
  /// Nil once the process has been reaped, since its id may then be reused.
  private let identifier: Mutex<pid_t?>
  private let name: String

  /// - Parameters:
  /// - environment: added to a minimal one, without settings of this machine.
  ///   - input: a file for stdin; nil: stdin is empty.
  /// - script: for the shell, with the program and its arguments in `$@`; nil to start the program
  ///   directly.
  /// - largestFile: in KiB; writes beyond this length fail as on a full disk.
  /// - Throws: ``HarnessFailure`` when it cannot be started.
  init(
    _ program: Program, _ arguments: [String], environment: [String: String] = [:],
    input: String = "/dev/null", through script: String? = nil, largestFile: Int? = nil
  ) throws {
    name = "\(program)"
    let program = try program.executable.path
    var command = [program] + arguments
    if let script { command = ["/bin/sh", "-c", script, "sh"] + command }
    if let largestFile {
      // The limit counts blocks of 512 bytes; without the trap its signal would end the program.
      let script = "trap '' XFSZ; ulimit -f \(2 * largestFile); exec \"$@\""
      command = ["/bin/sh", "-c", script, "sh"] + command
    }
    let own = ProcessInfo.processInfo.environment
    let variables = own.filter { ["PATH", "HOME", "LD_LIBRARY_PATH"].contains($0.key) }
      // No contexts of the user who runs the tests.
      .merging(["XDG_CONFIG_HOME": "/nonexistent"]) { $1 }
      .merging(environment) { $1 }
    let output = try OutputStreamPair()
    let errors = try OutputStreamPair()
    let number = try Self.spawn(
      command, variables.map { "\($0.key)=\($0.value)" },
      descriptors: (input, output.writing, errors.writing))
    output.closeWriting()
    errors.closeWriting()
    identifier = Mutex(number)
    Thread.detachNewThread { [self] in follow(number, output, errors) }
  }

  /// Sends a signal, unless the process has ended.
  func signal(_ number: Int32) {
    identifier.withLock { identifier in
      if let identifier { _ = kill(identifier, number) }
    }
  }

  /// A number of `/proc/PID/status`; see proc(5).
  func status(_ name: String) throws -> Int {
    let lines = try file("status").split(separator: "\n")
    let words = lines.first { $0.hasPrefix(name + ":") }?.split(whereSeparator: \.isWhitespace)
    guard let words, words.count > 1, let number = Int(words[1]) else {
      throw HarnessFailure("/proc has no \(name)")
    }
    return number
  }

  /// User and system time of all its threads, in seconds.
  var processorTime: Double {
    get throws {
      // The name of the program, in parentheses, may contain spaces. After it, the fields 14 and 15
      // of proc(5) are the 12th and 13th.
      let fields = try file("stat").split(separator: ")").last?.split(separator: " ") ?? []
      guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
        throw HarnessFailure("/proc has no times")
      }
      return (user + system) / Double(sysconf(CInt(_SC_CLK_TCK)))
    }
  }

  /// Changes its soft limit of open files while it runs. Swift does not see prlimit(2), so
  /// prlimit(1) of util-linux does it.
  func setOpenFiles(_ count: Int) throws {
    guard let number = identifier.withLock({ $0 }) else { throw HarnessFailure("it has ended") }
    let program = Process()
    program.executableURL = URL(filePath: "/usr/bin/prlimit")
    program.arguments = ["--pid", "\(number)", "--nofile=\(count):"]
    try program.run()
    program.waitUntilExit()
    guard program.terminationStatus == 0 else {
      throw HarnessFailure("its limit cannot be changed")
    }
  }

  private func file(_ name: String) throws -> String {
    guard let number = identifier.withLock({ $0 }) else { throw HarnessFailure("it has ended") }
    return try String(contentsOfFile: "/proc/\(number)/\(name)", encoding: .utf8)
  }

  /// Waits for its end, and searches its stderr for secrets.
  func exit() async throws -> ProgramExit {
    let exit = try await journal.first("exit") { $0.exit }
    SecretSearch.check(errors: journal.contents.errorText, of: name)
    return exit
  }

  private static func spawn(
    _ command: [String], _ environment: [String],
    descriptors: (input: String, output: CInt, errors: CInt)
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, descriptors.input, O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, descriptors.output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, descriptors.errors, STDERR_FILENO)

    // Default signal handlers, whatever the process of the tests has set.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for number in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

    let argumentPointers = command.map { strdup($0) } + [nil]
    let environmentPointers = environment.map { strdup($0) } + [nil]
    defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
    var number: pid_t = 0
    let code = posix_spawn(
      &number, command[0], &actions, &attributes, argumentPointers, environmentPointers)
    guard code == 0 else { throw HarnessFailure("\(command[0]) cannot be started: error \(code)") }
    return number
  }

  /// Reads until both streams have ended, and then waits for the process.
  private func follow(_ number: pid_t, _ output: OutputStreamPair, _ errors: OutputStreamPair) {
    var open = [
      pollfd(fd: output.reading, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.reading, events: Int16(POLLIN), revents: 0),
    ]
    while open.contains(where: { $0.fd >= 0 }) {
      // An interrupted poll has no events and is repeated.
      _ = poll(&open, nfds_t(open.count), -1)
      for index in open.indices where open[index].fd >= 0 && open[index].revents != 0 {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(open[index].fd, &bytes, bytes.count)
        if count < 0, errno == EINTR { continue }
        let chunk = Array(bytes.prefix(max(0, count)))
        if index == 0 { journal.wrote(output: chunk) } else { journal.wrote(errors: chunk) }
        // poll(2) ignores a negative descriptor.
        if chunk.isEmpty { open[index].fd = -1 }
      }
    }
    journal.exited(reap(number))
  }

  private func reap(_ number: pid_t) -> ProgramExit {
    // Until it is reaped it is a zombie with its id, so that no signal reaches another process.
    var information = siginfo_t()
    while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    var status: CInt = 0
    identifier.withLock { identifier in
      while waitpid(number, &status, 0) < 0, errno == EINTR {}
      identifier = nil
    }
    let signal = status & 0x7F
    return signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal)
  }
}

/// Two ends of a stream: the program writes to one, the test reads from the other. They are
/// sockets, which can be created close-on-exec: a descriptor inherited by another program would
/// hide the end of the stream.
private final class OutputStreamPair: Sendable {
  let reading: CInt
  let writing: CInt
  private let isWritingOpen = Mutex(true)

  init() throws {
    var ends: [CInt] = [-1, -1]
    let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw HarnessFailure("no stream for output: error \(errno)")
    }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    closeWriting()
  }

  func closeWriting() {
    isWritingOpen.withLock { isOpen in
      if isOpen { close(writing) }
      isOpen = false
    }
  }
}
