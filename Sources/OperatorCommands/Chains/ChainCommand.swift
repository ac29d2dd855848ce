import ArgumentParser

struct ChainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chain", abstract: "Chains of transactions.",
    subcommands: [ChainListCommand.self])
}
