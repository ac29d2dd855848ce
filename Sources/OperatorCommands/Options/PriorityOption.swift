import ArgumentParser
import Wire

/// How soon the server verifies what is submitted.
struct PriorityOption: ParsableArguments {
  enum Name: String, ExpressibleByArgument, CaseIterable {
    case interactive
    case bulk
  }

  @Option(help: "interactive, or bulk for an import: after whatever somebody waits for.")
  var priority: Name = .interactive

  var submissionPriority: SubmissionPriority {
    switch priority {
    case .interactive: .interactive
    case .bulk: .bulk
    }
  }
}
