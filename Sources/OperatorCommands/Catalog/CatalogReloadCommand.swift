import ArgumentParser
import Programs
import RPCClient
import Wire

struct CatalogReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Has the server read its catalog file again.",
    discussion: """
      A valid file is in force when the command ends. Exit code 2 when the file is not valid, 1 \
      when the server cannot read it: the old catalog stays in force.
      """)

  @Flag(help: "Only say what would be.")
  var dryRun = false

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let request = ReloadCatalogRequest(isDryRun: dryRun)
    let response = try await server.withClient { try await $0.reloadCatalog(request) }
    try output.write(response, table: CatalogText.text)
    guard let attempt = response.lastAttempt else {
      throw CommandFailure(.failed, "the server does not say what became of it")
    }
    if attempt.isValid { return }
    throw attempt.failure == nil
      ? CommandFailure(.refused, "the file is not valid; the old catalog stays in force")
      : CommandFailure(.failed, "the file cannot be read; the old catalog stays in force")
  }
}
