import ArgumentParser
import StoreSimulator

struct CatalogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalog",
    abstract: "Print the catalog of the simulated app, for --catalog of entitled.")

  func run() throws {
    try StandardOutput.print(SimulatedApp.catalogYAML, terminator: "")
  }
}
