/// The version of all programs of this package. They are released together.
package enum ProgramVersion {
  /// By Semantic Versioning 2.0.0. The only place that has to change for a release.
  package static let current = "0.1.0"

  /// What `--version` prints: the program's name and the version, as the GNU Coding Standards ask.
  package static func line(of program: String) -> String {
    "\(program) \(current)"
  }
}
