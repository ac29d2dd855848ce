import ArgumentParser
import JSONDocuments
import Programs
import RPCClient
import Wire

struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health", abstract: "Whether the server can do its work, and its version.",
    discussion: "Exit code 0 when it serves, 1 when it does not, 3 when it cannot be reached.")

  @Option(help: "Full name of one service. Default: the server as a whole.")
  var service: String = ""

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  /// A contract in JSON.
  struct Document: Encodable {
    let status: String
    /// Nil when the server does not send it.
    let version: String?

    init(_ response: HealthCheckResponse) {
      status = wireName(response.status)
      version = response.version
    }

    /// For people, a line.
    var text: String {
      guard let version else { return status }
      return "\(status), version \(TerminalText.visible(version))"
    }
  }

  func run() async throws {
    let response = try await server.withClient { try await $0.health(of: service) }
    try output.write(Document(response)) { $0.text }
    guard response.status == .serving else {
      throw CommandFailure(.failed, "the server does not serve")
    }
  }
}
