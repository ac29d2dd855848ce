import Foundation
package import Glibc
import Synchronization

/// A child process with its input and output on pipes.
///
/// Foundation's `Process` is not used: its children inherit the blocked signals of the thread, and
/// `openssl speed` relies on SIGALRM.
package final class Subprocess {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// The destination of stderr.
  package enum Errors {
    case shown
    case hidden
    /// Truncates the file, or creates it.
    case file(String)
  }

  package let name: String
  /// The process id; 0 after ``end()``.
  package private(set) var identifier: pid_t
  private var input: CInt
  private let output: CInt

  /// Pipes cannot be created with close-on-exec set atomically, so processes are started one at a
  /// time. A child that inherits a pipe of another would keep it open.
  private static let starting = Mutex(())

  /// - Parameters:
  ///   - command: the program, looked up in PATH, and its arguments.
  ///   - environment: added to the environment of this process; its values take precedence.
  /// - Throws: ``Failure`` when the process cannot be started.
  package init(
    _ command: [String], environment: [String: String] = [:], errors: Errors = .shown
  ) throws(Failure) {
    name = command[0]
    let started = Self.starting.withLock { _ in Self.start(command, environment, errors: errors) }
    guard let started else {
      throw Failure(description: "\(name) cannot be started; is it installed?")
    }
    (identifier, input, output) = started
  }

  private static func start(
    _ command: [String], _ environment: [String: String], errors: Errors
  ) -> (pid_t, CInt, CInt)? {
    var inputs: [CInt] = [-1, -1]
    var outputs: [CInt] = [-1, -1]
    guard pipe(&inputs) == 0 else { return nil }
    guard pipe(&outputs) == 0 else {
      for end in inputs { close(end) }
      return nil
    }
    for end in inputs + outputs { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process = spawn(
      command, environment, input: inputs[0], output: outputs[1], errors: errors)
    close(inputs[0])
    close(outputs[1])
    guard let process else {
      close(inputs[1])
      close(outputs[0])
      return nil
    }
    return (process, inputs[1], outputs[0])
  }

  private static func spawn(
    _ command: [String], _ environment: [String: String], input: CInt, output: CInt,
    errors: Errors
  ) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    switch errors {
    case .shown: break
    case .hidden:
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    case .file(let path):
      posix_spawn_file_actions_addopen(
        &actions, STDERR_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    var noSignals = sigset_t()
    sigemptyset(&noSignals)
    var pipeSignal = sigset_t()
    sigemptyset(&pipeSignal)
    sigaddset(&pipeSignal, SIGPIPE)
    posix_spawnattr_setsigmask(&attributes, &noSignals)
    posix_spawnattr_setsigdefault(&attributes, &pipeSignal)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    // The C locale, so that numbers have a decimal point.
    let variables = ProcessInfo.processInfo.environment
      .merging(environment.merging(["LC_ALL": "C"]) { $1 }) { $1 }
    var arguments = command.map { strdup($0) } + [nil]
    var settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + settings { free(text) } }
    var process: pid_t = 0
    let status = posix_spawnp(
      &process, command[0], &actions, &attributes, &arguments, &settings)
    return status == 0 ? process : nil
  }

  deinit {
    guard identifier != 0 else { return }
    kill(identifier, SIGKILL)
    _ = try? end()
  }

  /// Writes to the standard input. Blocks until the process has read enough. SIGPIPE must be
  /// ignored, because the process may have ended.
  ///
  /// - Throws: ``Failure`` when the process does not read any more.
  package func write(_ bytes: [UInt8]) throws(Failure) {
    let isWritten = bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(input, bytes.baseAddress! + written, bytes.count - written)
        if count < 0 && errno == EINTR { continue }
        // The base address exists, because more than 0 bytes are left.
        guard count > 0 else { return false }
        written += count
      }
      return true
    }
    if !isWritten {
      throw Failure(description: "\(name) exited before it had read all of its input")
    }
  }

  package func closeInput() {
    guard input >= 0 else { return }
    close(input)
    input = -1
  }

  /// The next line of the output, without its line feed.
  ///
  /// - Returns: nil when the output ends before a line feed.
  package func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    // One byte at a time: everything after the line is left for ``readOutput()``.
    while true {
      let count = read(output, &byte, 1)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return nil }
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  /// The output up to its end.
  package func readOutput() -> String {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(output, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      text += buffer[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether the process has exited. It is not reaped.
  package var hasEnded: Bool {
    guard identifier != 0 else { return true }
    var information = siginfo_t()
    let status = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
    // Without an exited child, the structure stays empty.
    return status != 0 || information.si_signo != 0
  }

  package func signal(_ number: CInt) {
    if identifier != 0 { kill(identifier, number) }
  }

  /// Closes the input and waits for the process to exit.
  ///
  /// - Returns: the processor time of the process, in microseconds.
  /// - Throws: ``Failure`` for an exit status other than 0.
  @discardableResult
  package func end() throws(Failure) -> Double {
    closeInput()
    close(output)
    var status: CInt = 0
    var usage = rusage()
    let ended = identifier
    identifier = 0
    while wait4(ended, &status, 0, &usage) < 0 && errno == EINTR {}
    guard status == 0 else { throw Failure(description: "\(name) failed") }
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) * 1e6 + Double($1.tv_usec)
    }
  }

  /// Runs a program until it exits.
  ///
  /// - Parameter input: must be small, because it is written before the output is read.
  /// - Returns: the output, and the processor time in microseconds.
  /// - Throws: ``Failure`` for an exit status other than 0.
  package static func output(
    of command: [String], input: String = "", errors: Errors = .shown
  ) throws(Failure) -> (text: String, processorTime: Double) {
    try Subprocess(command, errors: errors).output(input: input)
  }

  /// Writes `input`, reads the output to its end, and waits for the exit. See
  /// ``output(of:input:errors:)``.
  func output(input: String) throws(Failure) -> (text: String, processorTime: Double) {
    if !input.isEmpty { try write(Array(input.utf8)) }
    closeInput()
    let text = readOutput()
    return (text, try end())
  }
}
