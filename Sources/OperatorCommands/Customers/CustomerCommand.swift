import ArgumentParser

struct CustomerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "customer",
    abstract: "What customers may use, and why; all that is known of them.",
    subcommands: [
      CustomerGetCommand.self, CustomerListCommand.self, CustomerExplainCommand.self,
      CustomerHistoryCommand.self, CustomerExportCommand.self, CustomerDeleteCommand.self,
    ])
}
