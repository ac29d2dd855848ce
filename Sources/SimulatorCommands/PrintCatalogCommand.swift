import ArgumentParser
import StoreSimulator

struct PrintCatalogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalog",
    abstract: "Print the catalog of the simulated app, for --catalog of entitled.")

  func run() throws {
    try SimulatorOutput.print(SimulatedApp.catalogYAML, terminator: "")
  }
}
