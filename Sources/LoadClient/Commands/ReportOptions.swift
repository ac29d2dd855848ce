import ArgumentParser
import Glibc
import Programs
import Synchronization

/// The outputs of a run, and the conditions under which it fails.
struct ReportOptions: ParsableArguments {
  @Option(
    help: """
      A table; one JSON object; hgrm, the percentile distribution of HdrHistogram in \
      milliseconds; or hdr, its interval log, which is written during the run.
      """)
  var format = LoadReport.Form.table

  @Option(
    help: ArgumentHelp(
      "Destination of the report. It is opened before the run.", valueName: "file|-"))
  var output = "-"

  @Option(
    help: ArgumentHelp(
      "Draw latency over time and by percentile, as SVG.", valueName: "file"))
  var plot: String?

  @Option(
    help: ArgumentHelp(
      """
      Fail when this holds: 'p99>5ms', 'errors>0.1%', 'calls/s<10000'. Metrics: p50, p90, p99, \
      p99.9, max, errors, calls/s. May be repeated.
      """, valueName: "condition"))
  var failIf: [String] = []

  @Flag(help: "Write a line of progress each second, even if stderr is not a terminal.")
  var progress = false

  func validate() throws {
    _ = try conditions()
    guard plot != output else { throw ValidationError("--plot and --output name the same file") }
  }

  func conditions() throws -> [FailureCondition] {
    try failIf.map { text in
      do throws(FailureCondition.ParseError) {
        return try FailureCondition(parsing: text)
      } catch {
        throw ValidationError("--fail-if: \(error)")
      }
    }
  }

  /// Writes a line of progress to stderr; nil when there is no progress output.
  var writeProgress: (@Sendable (String) -> Void)? {
    guard progress || StandardError.isTerminal else { return nil }
    return { StandardError.write($0) }
  }
}

/// The destination of a report. It is opened before the run, so that a wrong path does not lose the
/// results, and keeps its contents until the first write. An existing file is overwritten in place,
/// not replaced: it may be a device, a pipe or a link.
final class ReportFile: Sendable {
  private let path: String
  private let isStandardOutput: Bool
  private let descriptor: CInt
  private let isCleared = Mutex(false)

  /// - Parameter path: `-` and `/dev/stdout` are stdout.
  /// - Throws: ``CommandFailure`` when it cannot be written.
  init(_ path: String) throws(CommandFailure) {
    // Stdout may be a socket, which cannot be opened by its name.
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

  /// Appends lines. The first call clears a regular file.
  ///
  /// - Throws: ``CommandFailure``; without a message when the reader of a pipe has closed it.
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
    // Only regular files can be truncated. Stdout belongs to the process that started this program.
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

extension LoadReport.Form: ExpressibleByArgument {}
