import ArgumentParser

struct CustomerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "customer", abstract: "What customers may use, and why.",
    subcommands: [
      CustomerGetCommand.self, CustomerListCommand.self, CustomerExplainCommand.self,
    ])
}
