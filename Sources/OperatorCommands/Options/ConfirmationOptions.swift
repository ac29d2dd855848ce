import ArgumentParser
import Glibc
import Programs

/// Asks before something is taken away.
struct ConfirmationOptions: ParsableArguments {
  @Flag(help: "Do not ask. Needed where nobody can be asked: not on a terminal.")
  var yes = false

  /// Returns when the answer is yes.
  ///
  /// - Throws: `ValidationError` when nobody can be asked, ``CommandFailure`` when the answer is no.
  func confirm(_ question: String) throws {
    if yes { return }
    guard isatty(STDIN_FILENO) == 1, StandardError.isTerminal else {
      throw ValidationError("nobody can be asked, as this is no terminal: --yes is needed")
    }
    StandardError.write("\(TerminalText.visible(question)) [y/N]")
    guard Self.isYes(readLine()) else {
      throw CommandFailure(.failed, "nothing was changed")
    }
  }

  /// - Parameter answer: nil when the input ended instead.
  static func isYes(_ answer: String?) -> Bool {
    guard let answer else { return false }
    return ["y", "yes"].contains(answer.lowercased().filter { !$0.isWhitespace })
  }
}
