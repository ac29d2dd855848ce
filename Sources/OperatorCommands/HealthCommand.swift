import ArgumentParser
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

  /// For people, a line.
  static func text(of response: HealthCheckResponse) -> String {
    let status = wireName(response.status)
    guard let version = response.version else { return status }
    return "\(status), version \(TerminalText.visible(version))"
  }

  func run() async throws {
    let response = try await server.withClient { try await $0.health(of: service) }
    try output.write(response, table: Self.text)
    guard response.status == .serving else {
      throw CommandFailure(.failed, "the server does not serve")
    }
  }
}
