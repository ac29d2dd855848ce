import ArgumentParser
import Programs

/// What is told of a run, and when it counts as failed.
struct ReportOptions: ParsableArguments {
  @Option(
    help: """
      A table; one JSON object; hgrm, the percentile distribution of HdrHistogram in \
      milliseconds; or hdr, its interval log, which is written while the run goes on.
      """)
  var format = LoadReport.Form.table

  @Option(
    help: ArgumentHelp(
      "Where the report goes. It is opened before the run.", valueName: "file|-"))
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

  @Flag(help: "Tell each second how it goes, although stderr is no terminal.")
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

  /// Nil when nobody wants to be told.
  var tell: (@Sendable (String) -> Void)? {
    guard progress || StandardError.isTerminal else { return nil }
    return { StandardError.write($0) }
  }
}
