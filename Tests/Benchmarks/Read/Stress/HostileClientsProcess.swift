import ArgumentParser
import Glibc
import LoadClient
import Wire

/// ``HostileClient``s in a process of their own, on a processor of their own: what they take themselves
/// is not to be taken for what the server does.
final class HostileClientsProcess {
  private let program: Subprocess

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameter processor: the only one that they may use; nil: all that this thread may.
  init(
    _ manners: [HostileClient.Manner], to address: ServerAddress, seed: UInt64, processor: Int?
  ) throws {
    let command =
      [
        EntitledProcess.path(of: "benchmark"), HostileClientsCommand.name, "\(address)", "--seed",
        "\(seed)",
      ] + manners.flatMap { ["--manner", $0.rawValue] }
    program = try ProcessorAffinity.with(processor) { try Subprocess(command) }
  }

  /// - Returns: how many connections they have made.
  func stop() throws -> Int {
    program.closeInput()
    let text = program.readOutput()
    try program.end()
    guard let connections = Int(text.prefix { $0 != "\n" }) else {
      throw Failure(description: "the hostile clients did not say how often they have connected")
    }
    return connections
  }
}

/// What ``HostileClientsProcess`` starts. Ends with its input.
struct HostileClientsCommand: AsyncParsableCommand {
  static let name = "hostile-clients"
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Clients that mean no good, until the input ends.",
    shouldDisplay: false)

  @Argument(help: "The server's address.", transform: { try ServerAddress(parsing: $0) })
  var address: ServerAddress

  @Option(help: "What they do.")
  var manner: [HostileClient.Manner]

  @Option(help: "Of what they send.")
  var seed: UInt64

  func run() async throws {
    let clients = try manner.map { try HostileClient($0, to: address, seed: seed) }
    while getchar() != EOF {}
    for client in clients { client.stop() }
    print(clients.reduce(0) { $0 + $1.connections })
  }
}
