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

/// The person or tool for whom a change is made, for the audit trail. The author is the authenticated
/// caller.
struct OnBehalfOfOption: ParsableArguments {
  @Option(
    name: .customLong("on-behalf-of"),
    help: ArgumentHelp(
      "Person or tool for whom you act, for the audit trail. The author is the caller.",
      valueName: "name"))
  var name: String?

  func validate() throws {
    if name == "" { throw ValidationError("--on-behalf-of is empty") }
  }
}

/// The reason of a change, and for whom it is made. The server keeps both permanently.
struct AuditOptions: ParsableArguments {
  @Option(help: "Reason, for the audit trail.")
  var reason: String

  @OptionGroup var onBehalfOfOption: OnBehalfOfOption

  var onBehalfOf: String? { onBehalfOfOption.name }
}
