import ArgumentParser

struct ScenarioCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenario", abstract: "Files that say what the service must answer.",
    subcommands: [ScenarioRunCommand.self])
}
