import ArgumentParser
import Framing
import Glibc
import LoadClient
import PostgresBulkLoader
import Wire

/// ``HostileClient``s in a separate process on a separate processor, so that their own processor
/// time is not counted as the server's.
final class HostileClientsProcess {
  private let program: Subprocess

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameter processor: the only processor that they may use; nil for all processors of this
  ///   thread.
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

  /// - Returns: the number of connections they have made.
  func stop() throws -> Int {
    program.closeInput()
    let text = program.readOutput()
    try program.end()
    guard let connections = Int(text.prefix { $0 != "\n" }) else {
      throw Failure(description: "the hostile clients printed no number of connections")
    }
    return connections
  }
}

/// The command that ``HostileClientsProcess`` starts. It ends with its input.
struct HostileClientsCommand: AsyncParsableCommand {
  static let name = "hostile-clients"
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Hostile clients, until the input ends.",
    shouldDisplay: false)

  @Argument(help: "The server's address.", transform: { try ServerAddress(parsing: $0) })
  var address: ServerAddress

  @Option(help: "The manner of each client.")
  var manner: [HostileClient.Manner]

  @Option(help: "The seed of the bytes that they send.")
  var seed: UInt64

  func run() async throws {
    if manner.contains(.stranger) { try OpenFiles.allow(manner.count * HostileClient.held + 100) }
    let clients = try manner.map { try HostileClient($0, to: address, seed: seed) }
    while getchar() != EOF {}
    for client in clients { client.stop() }
    print(clients.reduce(0) { $0 + $1.connections })
  }
}
