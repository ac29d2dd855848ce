import Scenarios

/// What became of one file.
struct ScenarioOutcome {
  let file: String
  let result: Result<ScenarioReport, ScenarioError>

  var hasPassed: Bool { (try? result.get())?.hasPassed ?? false }

  /// The file cannot be run at all, through a fault of its own.
  var isUnusable: Bool {
    guard case .failure(let error) = result else { return false }
    return error.code != .internalFault
  }

  /// For people; empty when there is nothing to tell.
  func text(showingStates: Bool) -> String {
    switch result {
    case .success(let report):
      let differences = report.differences.map { "\(file):\($0.description)" }
      let states = report.states.map { "# \(file):\($0.line)\n\($0.text)" }
      return ((showingStates ? states : []) + differences).joined(separator: "\n")
    case .failure(let error):
      return error.issues.map { issue in
        // A file that was not read has no lines.
        let place = error.code == .malformed ? ":\(issue.line)" : ""
        let field = issue.field.isEmpty ? "" : "\(issue.field): "
        return "\(file)\(place): \(field)\(issue.message)"
      }.joined(separator: "\n")
    }
  }
}
