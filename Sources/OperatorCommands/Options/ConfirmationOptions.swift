import ArgumentParser
import Glibc
import Programs

/// Asks for confirmation before a destructive change.
struct ConfirmationOptions: ParsableArguments {
  @Flag(help: "Do not ask for confirmation. Required without a terminal.")
  var yes = false

  /// Returns when the answer is yes.
  ///
  /// - Throws: `ValidationError` when stdin or stderr is not a terminal, ``CommandFailure`` when
  ///   the answer is no.
  func confirm(_ question: String) throws {
    if yes { return }
    guard isatty(STDIN_FILENO) == 1, StandardError.isTerminal else {
      throw ValidationError("confirmation needs a terminal; use --yes to skip it")
    }
    StandardError.write("\(TerminalText.escaped(question)) [y/N]")
    guard Self.isYes(readLine()) else {
      throw CommandFailure(.failed, "nothing was changed")
    }
  }

  /// - Parameter answer: nil at the end of the input.
  static func isYes(_ answer: String?) -> Bool {
    guard let answer else { return false }
    return ["y", "yes"].contains(answer.lowercased().filter { !$0.isWhitespace })
  }
}

/// The author and the reason of a change. The server keeps both permanently.
struct AuditOptions: ParsableArguments {
  @Option(help: "Reason, for the audit trail.")
  var reason: String

  @Option(help: "Author of the change.")
  var author: String
}
