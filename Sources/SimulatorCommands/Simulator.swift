import ArgumentParser
import Programs
import RPCClient
import Wire

/// The program `storesim`.
package enum Simulator {
  /// Runs the command line and ends the process with its exit code: 0 done, 1 failed, 2 refused, 3
  /// server unreachable, 4 not authorised, 64 wrong usage.
  package static func main() async -> Never {
    await SimulatorCommand.runAndExit { StandardError.write("Error: \($0)") }
  }
}

struct SimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "storesim",
    abstract: "Simulates the App Store, for tests, demonstrations and load.",
    discussion: """
      It signs payloads like the App Store, with its own roots, for Sandbox unless --environment \
      says otherwise. A server accepts them only with --trust-root for these roots.

      Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 \
      failed, 2 refused by the server, 3 server unreachable, 4 not authorised, 64 wrong usage.
      """,
    version: ProgramVersion.line(of: "storesim"),
    subcommands: [
      AuthorityCommand.self, PrintCatalogCommand.self, LifeCyclesCommand.self,
      SignReceiptCommand.self, SignCommand.self, SubmitPopulationCommand.self, ServeCommand.self,
      ClockCommand.self, CustomersCommand.self, BuyCommand.self, CancelCommand.self,
      ResumeCommand.self, UpgradeCommand.self, ChangeCardCommand.self, RaisePriceCommand.self,
      ConsentCommand.self, ShareCommand.self, StopSharingCommand.self, RefundCommand.self,
      RequestConsumptionCommand.self, FaultCommand.self,
    ])
}

// Exit codes in addition to `failed`: a documented contract.
extension CommandFailure.Reason {
  /// The server refused a payload or a request.
  static let refused = Self(exitCode: 2)
  static let unreachable = Self(exitCode: 3)
  static let notAuthorised = Self(exitCode: 4)
}

extension CommandFailure {
  init(_ error: RPCClientError) {
    let reason: Reason =
      switch error.code {
      case .unreachable, .connectionClosed, .clientClosed: .unreachable
      case .status(.unauthenticated), .status(.permissionDenied): .notAuthorised
      case .status(.invalidArgument), .status(.notFound), .status(.failedPrecondition): .refused
      case .status: .failed
      }
    self.init(reason, error.description)
  }
}
