package import ArgumentParser
import Glibc
import Logging

extension ParsableCommand {
  /// Runs the command line as that of a whole program, and ends the process with its exit code.
  ///
  /// - Parameter tell: tells people the message of a ``CommandFailure``.
  package static func runAndExit(telling tell: (String) -> Void) async -> Never {
    // Whoever reads the output may have seen enough: that is an error of the write. So is a program
    // that has ended and was to be fed.
    signal(SIGPIPE, SIG_IGN)
    // Libraries log for servers. A command tells by itself what its user has to know.
    LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      exit()
    } catch let failure as CommandFailure {
      if let message = failure.message { tell(message) }
      exit(withError: ExitCode(failure.reason.exitCode))
    } catch {
      exit(withError: error)
    }
  }
}
