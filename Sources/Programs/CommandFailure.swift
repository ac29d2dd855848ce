/// Why a command did not do what it was asked, with the exit code that says so.
package struct CommandFailure: Error {
  /// The exit codes of a program are a contract: each program adds its own to ``failed``.
  package struct Reason: Hashable, Sendable {
    package let exitCode: Int32

    package init(exitCode: Int32) {
      self.exitCode = exitCode
    }

    package static let failed = Reason(exitCode: 1)
  }

  package let reason: Reason
  /// For people; nil when there is nothing to tell.
  package let message: String?

  package init(_ reason: Reason, _ message: String?) {
    self.reason = reason
    self.message = message
  }
}
