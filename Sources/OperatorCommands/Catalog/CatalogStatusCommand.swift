import ArgumentParser
import RPCClient
import Wire

struct CatalogStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Which catalog the server has in force, and the last attempt to change it.")

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let response = try await server.withClient { try await $0.catalog() }
    try output.write(response, table: CatalogText.text)
  }
}
