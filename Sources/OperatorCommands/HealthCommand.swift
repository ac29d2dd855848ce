import ArgumentParser
import JSONDocuments
import Programs
import RPCClient
import Wire

struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health", abstract: "Whether the server can do its work.",
    discussion: "Exit code 0 when it serves, 1 when it does not, 3 when it cannot be reached.")

  @Option(help: "Full name of one service. Default: the server as a whole.")
  var service: String = ""

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  private struct Document: Encodable {
    let status: String
  }

  func run() async throws {
    let status = try await server.withClient { try await $0.health(of: service) }
    try output.write(Document(status: wireName(status))) { $0.status }
    guard status == .serving else {
      throw CommandFailure(.failed, "the server does not serve")
    }
  }
}
