import EntitlementDomain
import Scenarios

/// The result of one scenario file.
struct ScenarioOutcome {
  let file: String
  let result: Result<ScenarioReport, ScenarioError>

  var hasPassed: Bool { (try? result.get())?.hasPassed ?? false }

  /// Whether the file is at fault: it is malformed or cannot be read.
  var isUnusable: Bool {
    guard case .failure(let error) = result else { return false }
    return error.code != .internalFault
  }

  /// Human-readable; empty when there is nothing to report.
  func text(showingStates: Bool) -> String {
    switch result {
    case .success(let report):
      let differences = report.differences.map { "\(file):\($0.description)" }
      let states = report.states.map { "# \(file):\($0.line)\n\($0.text)" }
      return ((showingStates ? states : []) + differences).joined(separator: "\n")
    case .failure(let error):
      return error.issues.map { issue in
        // A file that could not be read has no line numbers.
        let place = error.code == .malformed ? ":\(issue.line)" : ""
        let field = issue.field.isEmpty ? "" : "\(issue.field): "
        return "\(file)\(place): \(field)\(issue.message)"
      }.joined(separator: "\n")
    }
  }
}

/// A ``ScenarioOutcome`` in JSON, a documented contract.
struct ScenarioDocument: Encodable {
  let file: String
  /// `PASSED`, `FAILED`, `MALFORMED`, `UNREADABLE` or `INTERNAL_FAULT`.
  let outcome: String
  let scenario: String?
  let differences: [DifferenceDocument]?
  let errors: [IssueDocument]?
  let states: [StateText]?

  struct DifferenceDocument: Encodable {
    let line: Int
    let atMs: String
    let variant: String?
    let field: String
    let expected: String
    let actual: String
  }

  struct IssueDocument: Encodable {
    let line: Int
    let field: String
    let message: String
  }

  struct StateText: Encodable {
    let line: Int
    let atMs: String
    let text: String
  }

  init(_ outcome: ScenarioOutcome, showingStates: Bool) {
    file = outcome.file
    switch outcome.result {
    case .success(let report):
      self.outcome = report.hasPassed ? "PASSED" : "FAILED"
      scenario = report.title
      differences = report.differences.map { difference in
        DifferenceDocument(
          line: difference.line, atMs: "\(difference.moment)", variant: difference.variant,
          field: difference.field, expected: difference.expected, actual: difference.actual)
      }
      states =
        showingStates
        ? report.states.map {
          StateText(line: $0.line, atMs: "\($0.at)", text: $0.text)
        } : nil
      errors = nil
    case .failure(let error):
      self.outcome =
        switch error.code {
        case .malformed: "MALFORMED"
        case .unreadable: "UNREADABLE"
        case .internalFault: "INTERNAL_FAULT"
        }
      scenario = nil
      differences = nil
      states = nil
      errors = error.issues.map {
        IssueDocument(line: $0.line, field: $0.field, message: $0.message)
      }
    }
  }
}
