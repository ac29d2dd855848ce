import EntitlementDomain
import Programs

/// A configuration file that was checked without a server.
struct CheckedFile<Contents> {
  /// The name to print: the path, or `stdin`.
  let file: String
  /// Nil when the file is not valid.
  let contents: Contents?
  /// In the order of the file.
  let issues: [FileIssue]

  /// - Parameters:
  ///   - path: `-` is stdin.
  ///   - limit: in bytes.
  ///   - parse: its contents, nil when they are not valid, and its issues.
  /// - Throws: ``CommandFailure`` when the file cannot be read.
  init(
    at path: String, limit: Int, parse: (String) -> (contents: Contents?, issues: [FileIssue])
  ) throws(CommandFailure) {
    file = path == "-" ? "stdin" : path
    let bytes = try InputFile.contents(of: path, limit: limit)
    if let text = String(validating: bytes, as: UTF8.self) {
      (contents, issues) = parse(text)
    } else {
      contents = nil
      issues = [
        FileIssue(severity: .error, line: 1, column: 1, field: "", message: "not UTF-8")
      ]
    }
  }

  /// One issue a line as `file:line:column: …`, which editors can follow, then a summary line.
  ///
  /// - Parameter summary: what a valid file has.
  func text(_ summary: (Contents) -> [String]) -> String {
    let lines = issues.map { issue in
      let field = issue.field.isEmpty ? "" : "\(issue.field): "
      let message = issue.message
      return
        "\(file):\(issue.line):\(issue.column): \(issue.severity.rawValue): \(field)\(message)"
    }
    let found = [
      FileCheck.count(issues.count { $0.severity == .error }, "error", "errors"),
      FileCheck.count(issues.count { $0.severity == .warning }, "warning", "warnings"),
    ].joined(separator: ", ")
    guard let contents else { return (lines + ["\(file): not valid; \(found)"]).lines }
    let parts = summary(contents).joined(separator: ", ")
    return (lines + ["\(file): valid; \(parts); \(found)"]).lines
  }
}

extension [String] {
  fileprivate var lines: String { joined(separator: "\n") }
}

/// Checks several files, and prints what was found.
enum FileCheck {
  /// - Throws: ``CommandFailure`` when a file cannot be read or is not valid, after all were
  ///   checked.
  static func run<Contents>(
    _ files: [String], output: OutputOptions,
    check: (String) throws(CommandFailure) -> CheckedFile<Contents>,
    summary: (Contents) -> [String],
    document: (CheckedFile<Contents>) throws -> some Encodable
  ) throws {
    var checked: [CheckedFile<Contents>] = []
    var isComplete = true
    for path in files {
      do throws(CommandFailure) {
        checked.append(try check(path))
      } catch {
        // The remaining files are checked even if one cannot be read.
        error.report()
        isComplete = false
      }
    }
    switch output.output {
    case .table:
      for file in checked {
        try StandardOutput.write(TerminalText.escaped(file.text(summary), keepsLines: true))
      }
    case .json, .jsonl:
      try output.write(documents: try checked.map(document)) { _ in "" }
    }
    if !isComplete { throw CommandFailure(.failed, nil) }
    if checked.contains(where: { $0.contents == nil }) { throw CommandFailure(.refused, nil) }
  }

  static func count(_ number: Int, _ one: String, _ several: String) -> String {
    "\(number) \(number == 1 ? one : several)"
  }
}
