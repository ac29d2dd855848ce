/// The version of all programs of this package, which are released together.
package enum ProgramVersion {
  /// Follows Semantic Versioning 2.0.0. A release changes only this line.
  package static let current = "0.1.0"

  /// The output of `--version`: name and version of the program, as in the GNU Coding Standards.
  package static func line(of program: String) -> String {
    "\(program) \(current)"
  }
}
