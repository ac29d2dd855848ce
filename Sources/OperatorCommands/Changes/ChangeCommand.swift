import ArgumentParser

struct ChangeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "change", abstract: "The feed of changes and events.",
    subcommands: [ChangeListCommand.self])
}
