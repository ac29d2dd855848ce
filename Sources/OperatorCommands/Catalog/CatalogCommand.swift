import ArgumentParser

struct CatalogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalog", abstract: "Checks catalog files, and puts them in force.",
    subcommands: [
      CatalogCheckCommand.self, CatalogStatusCommand.self, CatalogReloadCommand.self,
    ])
}
