import ArgumentParser
import StoreSimulator

struct LifeCyclesCommand: ParsableCommand {
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table
    case json
    case jsonl
  }

  static let configuration = CommandConfiguration(
    commandName: "life-cycles",
    abstract: "List the life cycles that customers can go through.",
    discussion: """
      In JSON each life cycle has its name, a summary, and characteristicDay: the number of days \
      from its start to the state that it is named after.
      """)

  @Option(help: "A table, one JSON array, or one JSON object a line.")
  var output = Format.table

  func run() throws {
    switch output {
    case .table:
      let width = LifeCycle.allCases.map(\.rawValue.count).max() ?? 0
      for lifeCycle in LifeCycle.allCases {
        let padding = String(repeating: " ", count: width - lifeCycle.rawValue.count)
        try SimulatorOutput.print("\(lifeCycle.rawValue)\(padding)  \(lifeCycle.summary)")
      }
    case .json:
      try SimulatorOutput.print("[\(LifeCycle.allCases.map(Self.json).joined(separator: ",\n "))]")
    case .jsonl:
      for lifeCycle in LifeCycle.allCases { try SimulatorOutput.print(Self.json(of: lifeCycle)) }
    }
  }

  private static func json(of lifeCycle: LifeCycle) -> String {
    var writer = JSONObjectWriter()
    writer.set("name", lifeCycle.rawValue)
    writer.set("summary", lifeCycle.summary)
    writer.set("characteristicDay", lifeCycle.characteristicDay)
    return writer.text
  }
}
