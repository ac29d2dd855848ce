import Foundation

/// Readers of metrics that are not ours: Python's `prometheus_client` (Debian package
/// python3-prometheus-client) and `promtool`, which deploy/test gets.
package enum PrometheusTools {
  package struct Outcome: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String
  }

  /// The path of a file of the package.
  package static func path(_ name: String) -> String {
    URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: name).path
  }

  private static let python = "/usr/bin/python3"

  package static let hasParser = {
    let outcome = try? run(
      python, ["-c", "import prometheus_client.openmetrics.parser"], input: [])
    return outcome?.status == 0
  }()

  /// Nil where it is not installed.
  package static let promtool: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let programs =
      folders.map { "\($0)/promtool" } + [path(".build/promtool/usr/bin/promtool")]
    return programs.first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  package static var hasPromtool: Bool { promtool != nil }

  /// The samples of an exposition as `Tests/PrometheusOracle/parse.py` prints them.
  ///
  /// - Parameter form: `prometheus` or `openmetrics`.
  package static func parse(_ text: [UInt8], as form: String) throws -> Outcome {
    try run(python, [path("Tests/PrometheusOracle/parse.py"), form], input: text)
  }

  package static func runPromtool(_ arguments: [String], input: [UInt8] = []) throws -> Outcome {
    try run(promtool ?? "promtool", arguments, input: input)
  }

  static func run(
    _ program: String, _ arguments: [String], input: [UInt8]
  ) throws -> Outcome {
    // Files instead of pipes, so that neither side blocks the other.
    let folder = try TemporaryFolder()
    let files = ["input", "output", "errors"].map { URL(filePath: folder.file($0)) }
    try Data(input).write(to: files[0])
    for file in files[1...] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    try process.run()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: try String(contentsOf: files[1], encoding: .utf8),
      errors: try String(contentsOf: files[2], encoding: .utf8))
  }
}
