import Glibc

/// What `openssl speed` measures of one algorithm, for comparison: it does nothing but the curve.
enum OpenSSLSpeed: String {
  case ecdsaP256 = "ecdsap256"
  case rsa2048

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Verifications in a second of processor time, on one thread.
  ///
  /// - Parameter seconds: how long it measures; it signs for as long before that.
  /// - Throws: ``Failure`` when there is no `openssl`, or its output is not understood.
  func verificationsPerSecond(seconds: Int) throws -> Double {
    let text = try Self.output(of: ["openssl", "speed", "-mr", "-seconds", "\(seconds)", rawValue])
    guard let rate = Self.verifications(inMachineReadable: text) else {
      throw Failure(description: "the output of openssl speed \(rawValue) is not understood")
    }
    return rate
  }

  /// The last number of a line like `+F4:3:256:64259.183673:21821.649485`: after the algorithm's
  /// index and its bits, signatures and verifications a second. Other lines are passed over.
  static func verifications(inMachineReadable text: String) -> Double? {
    for line in text.split(whereSeparator: \.isNewline)
    where line.hasPrefix("+F2:") || line.hasPrefix("+F4:") {
      let fields = line.split(separator: ":")
      // A rate below one would be seconds a call, as early versions told.
      if fields.count == 5, let rate = Double(fields[4]), rate.isFinite, rate > 1 { return rate }
    }
    return nil
  }

  /// What a command writes to stdout. Not through Foundation: its children inherit the signals that
  /// our thread blocks, and `openssl speed` waits for SIGALRM to tell it that the time is over.
  private static func output(of command: [String]) throws -> String {
    let failure = Failure(description: "openssl speed failed; is openssl installed?")
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var noSignals = sigset_t()
    sigemptyset(&noSignals)
    posix_spawnattr_setsigmask(&attributes, &noSignals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments = command.map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    // Numbers with a point, in any locale.
    let environment = [strdup("LC_ALL=C"), nil]
    defer { free(environment[0]) }
    var process: pid_t = 0
    let spawned = posix_spawnp(&process, command[0], &actions, &attributes, arguments, environment)
    close(ends[1])
    guard spawned == 0 else { throw failure }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      guard count > 0 else { break }
      text += buffer[..<count]
    }
    var status: CInt = 0
    guard waitpid(process, &status, 0) == process, status == 0 else { throw failure }
    return String(decoding: text, as: UTF8.self)
  }
}
