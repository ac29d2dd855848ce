package import ArgumentParser
import Glibc
import Logging

/// The failure of a command, with its exit code and message.
package struct CommandFailure: Error {
  /// An exit code. Exit codes are a contract; each program defines its own in addition to
  /// ``failed``.
  package struct Reason: Hashable, Sendable {
    package let exitCode: Int32

    package init(exitCode: Int32) {
      self.exitCode = exitCode
    }

    package static let failed = Reason(exitCode: 1)
  }

  package let reason: Reason
  /// The message for the user; nil if there is none.
  package let message: String?

  package init(_ reason: Reason, _ message: String?) {
    self.reason = reason
    self.message = message
  }
}

extension ParsableCommand {
  /// Parses and runs the command line of the process, then exits with its exit code.
  ///
  /// - Parameter report: Shows the message of a ``CommandFailure`` to the user.
  package static func runAndExit(telling report: (String) -> Void) async -> Never {
    // A write to a closed pipe then fails with EPIPE: the reader of the output, or a child process
    // that reads its input, may have ended.
    signal(SIGPIPE, SIG_IGN)
    // The logs of libraries are meant for servers. A command prints its own messages.
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
      // It may contain what a server answered.
      if let message = failure.message {
        report(TerminalText.escaped(message, keepsLines: true))
      }
      exit(withError: ExitCode(failure.reason.exitCode))
    } catch {
      exit(withError: error)
    }
  }
}
