package import ArgumentParser
import Programs
import RPCClient

/// `entitle-load`: puts a server under load, measures it, and checks its answers.
package struct LoadProgram: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "entitle-load",
    abstract: "Puts a server under load, measures it, and checks its answers.",
    discussion: """
      The customers are simulated from a seed, so that the right answer about each is known. \
      `prepare` fills a server or a database with them.

      The report goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, a wrong \
      answer or a --fail-if condition that is met, 64 usage, 69 server or database not reachable, \
      130 interrupted, with a report of the results so far.
      """,
    version: ProgramVersion.line(of: "entitle-load"),
    subcommands: [RunCommand.self, PrepareCommand.self], defaultSubcommand: RunCommand.self)

  package init() {}

  /// Runs the command line and ends the process with its exit code.
  package static func runAndExit() async -> Never {
    await runAndExit { StandardError.write("entitle-load: \($0)") }
  }
}

// Exit codes in addition to `failed`: a documented contract.
extension CommandFailure.Reason {
  static let unreachable = Self(exitCode: 69)
  static let interrupted = Self(exitCode: 130)
}

extension CommandFailure {
  init(_ error: RPCClientError) {
    let reason: Reason =
      switch error.code {
      case .unreachable, .connectionClosed: .unreachable
      case .clientClosed, .status: .failed
      }
    self.init(reason, error.description)
  }

  /// Runs `body`, and converts its errors to ``CommandFailure``.
  static func wrapping<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as RPCClientError {
      throw CommandFailure(error)
    } catch let error as CommandFailure {
      throw error
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
  }
}
