import EntitlementDomain
import Programs

/// The name of an account that was merged into another.
enum MergedName {
  /// Tells whoever asked for an account by such a name that the answer is the other's.
  ///
  /// - Parameters:
  ///   - name: as it was asked for.
  ///   - account: of which the answer is.
  ///   - answer: what the answer is.
  static func tell(of name: String, answeredBy account: AccountID, _ answer: String) {
    if account == AccountID(name) { return }
    StandardError.write(TerminalText.visible("\(name) was merged into \(account): \(answer)"))
  }
}
