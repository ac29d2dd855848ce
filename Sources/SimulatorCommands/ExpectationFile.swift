import EntitlementDomain
import FoundationEssentials
import Programs
import StoreSimulator

/// What must be said of each customer of a population at its moment: one JSON object a line with
/// accountId, lifeCycle, bundleId, environment, at (milliseconds) and expected.
struct ExpectationFile {
  /// `-` is standard output.
  let path: String

  /// - Throws: ``CommandFailure``.
  func write(_ population: Population) throws(CommandFailure) {
    var text = ""
    for customer in population.customers {
      var writer = JSONObjectWriter()
      writer.set("accountId", customer.accountID.rawValue)
      writer.set("lifeCycle", customer.timeline.lifeCycle.rawValue)
      writer.set("bundleId", SimulatedApp.bundleID.rawValue)
      writer.set("environment", population.environment.rawValue)
      writer.set("at", population.now.rawValue)
      writer.set("expected", customer.timeline.expectation(at: population.now).json)
      text += writer.text + "\n"
    }
    if path == "-" {
      try StandardOutput.print(text, terminator: "")
    } else {
      try CommandFailure.writing(path) {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
      }
    }
  }
}
