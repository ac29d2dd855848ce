import Foundation
package import Glibc
import Synchronization

/// A program that this one starts, its input and output on pipes.
///
/// Not through Foundation: its children inherit the signals that our thread blocks, and `openssl
/// speed` waits for SIGALRM to tell it that the time is over.
package final class Subprocess {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Where it writes its errors.
  package enum Errors {
    case shown
    case hidden
    /// A file, which is made anew.
    case file(String)
  }

  package let name: String
  /// 0 once it was waited for.
  package private(set) var identifier: pid_t
  private var input: CInt
  private let output: CInt

  /// Pipes cannot be opened and kept from children at once. One program is started after the other,
  /// as one that held another's pipe open would keep it from its end.
  private static let starting = Mutex(())

  /// - Parameters:
  ///   - command: the program, looked up in PATH, and its arguments.
  ///   - environment: added to ours, in place of what has the same name.
  /// - Throws: ``Failure`` when it cannot be started.
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
    // Numbers with a point, in any locale.
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

  /// Waits while it does not read. SIGPIPE must be ignored: it may have ended.
  ///
  /// - Throws: ``Failure`` when it reads no more.
  package func write(_ bytes: [UInt8]) throws(Failure) {
    let isWritten = bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(input, bytes.baseAddress! + written, bytes.count - written)
        if count < 0 && errno == EINTR { continue }
        // The base address is there: more than 0 bytes are left.
        guard count > 0 else { return false }
        written += count
      }
      return true
    }
    if !isWritten { throw Failure(description: "\(name) ended before it had read everything") }
  }

  package func closeInput() {
    guard input >= 0 else { return }
    close(input)
    input = -1
  }

  /// The next line that it writes, without its line feed.
  ///
  /// - Returns: nil when the output ends before a line feed.
  package func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    // One byte at a time: all after the line is left for ``readOutput()``.
    while true {
      let count = read(output, &byte, 1)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return nil }
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  /// Everything that it writes up to its end.
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

  /// Whether it runs no more; nobody has waited for it yet.
  package var hasEnded: Bool {
    guard identifier != 0 else { return true }
    var information = siginfo_t()
    let status = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
    // Without a child that has ended, nothing is filled in.
    return status != 0 || information.si_signo != 0
  }

  package func signal(_ number: CInt) {
    if identifier != 0 { kill(identifier, number) }
  }

  /// Closes its input, and waits for its end.
  ///
  /// - Returns: the processor time that it used, in microseconds.
  /// - Throws: ``Failure`` when it did not succeed.
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

  /// Runs a program to its end.
  ///
  /// - Parameter input: small against its output: it is written before anything is read.
  /// - Throws: ``Failure`` when it did not succeed.
  package static func output(
    of command: [String], input: String = "", errors: Errors = .shown
  ) throws(Failure) -> (text: String, processorTime: Double) {
    try Subprocess(command, errors: errors).output(input: input)
  }

  /// Everything that it answers to this input, up to its end; see
  /// ``output(of:input:errors:)``.
  func output(input: String) throws(Failure) -> (text: String, processorTime: Double) {
    if !input.isEmpty { try write(Array(input.utf8)) }
    closeInput()
    let text = readOutput()
    return (text, try end())
  }
}
