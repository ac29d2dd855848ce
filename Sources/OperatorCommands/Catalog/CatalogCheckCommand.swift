import ArgumentParser
import EntitlementDomain
import Programs

struct CatalogCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Says what is wrong with catalog files, without a server.",
    discussion: """
      Every error and warning, with its place. Exit code 0 when the files are valid (there may be \
      warnings), 2 when one is not, 1 when one cannot be read; the others are checked all the same.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @OptionGroup var output: OutputOptions

  func run() throws {
    var reports: [CatalogReport] = []
    var isComplete = true
    for path in files {
      do throws(CommandFailure) {
        reports.append(try CatalogReport(ofFileAt: path))
      } catch {
        // A file that cannot be read hides nothing of the others.
        error.report()
        isComplete = false
      }
    }
    switch output.output {
    case .table:
      for report in reports {
        try StandardOutput.write(TerminalText.visible(report.text, keepsLines: true))
      }
    case .json, .jsonl:
      try output.write(documents: try reports.map { try CatalogReportDocument($0) }) { _ in "" }
    }
    if !isComplete { throw CommandFailure(.failed, nil) }
    if reports.contains(where: { $0.catalog == nil }) { throw CommandFailure(.refused, nil) }
  }
}
