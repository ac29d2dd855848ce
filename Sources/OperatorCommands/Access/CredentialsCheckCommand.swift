import AccessControl
import ArgumentParser
import EntitlementDomain
import Glibc
import Programs

struct CredentialsCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks files of credentials, without a server.",
    discussion: """
      Prints every error and warning with its position, and no digest. The names of Unix users are \
      looked up on this machine. A file that others may write is not valid. Exit code 0 when all \
      files are valid (warnings are allowed), 2 when a file is not valid, 1 when a file cannot be \
      read; the remaining files are still checked.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @OptionGroup var output: OutputOptions

  func run() throws {
    try FileCheck.run(
      files, output: output, check: Self.checked, summary: Self.summary,
      document: CredentialsCheckDocument.init)
  }

  private static func checked(
    _ path: String
  ) throws(CommandFailure) -> CheckedFile<[CredentialsFile.Description]> {
    let mode = try modeIssues(path)
    return try CheckedFile(at: path, limit: CredentialsFile.maximumBytes) { text in
      do throws(CredentialsFile.Invalid) {
        let contents = try CredentialsFile.parse(text, user: Self.userID)
        let isValid = !mode.contains { $0.severity == .error }
        return (isValid ? contents.callers : nil, mode + contents.warnings)
      } catch {
        return (nil, mode + error.issues)
      }
    }
  }

  /// What the server says of the permissions of a file.
  private static func modeIssues(_ path: String) throws(CommandFailure) -> [FileIssue] {
    var status = stat()
    guard path != "-", stat(path, &status) == 0 else { return [] }
    func issue(_ severity: FileIssue.Severity, _ message: String) -> [FileIssue] {
      [FileIssue(severity: severity, line: 1, column: 1, field: "", message: message)]
    }
    if status.st_mode & 0o022 != 0 {
      return issue(.error, "other users may write the file (chmod 640)")
    }
    if status.st_mode & 0o004 != 0 {
      return issue(.warning, "other users may read who may do what (chmod 640)")
    }
    return []
  }

  /// The number of a Unix user (getpwnam_r(3)).
  private static func userID(_ name: String) -> UInt32? {
    var user = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let result = getpwnam_r(name, &user, &buffer, buffer.count, &found)
    return result == 0 && found != nil ? user.pw_uid : nil
  }

  private static func summary(_ callers: [CredentialsFile.Description]) -> [String] {
    [
      FileCheck.count(callers.count, "caller", "callers"),
      FileCheck.count(callers.reduce(0) { $0 + $1.tokens.count }, "token", "tokens"),
    ]
  }
}

/// A checked file in JSON. The format is a documented contract. Issues are `entitle.v1.FileIssue`.
/// Counts are absent when the file is not valid.
struct CredentialsCheckDocument: Encodable {
  let file: String
  let valid: Bool
  let callers: Int?
  let tokens: Int?
  let issues: [JSONValue]

  init(_ checked: CheckedFile<[CredentialsFile.Description]>) throws {
    file = checked.file
    valid = checked.contents != nil
    callers = checked.contents?.count
    tokens = checked.contents?.reduce(0) { $0 + $1.tokens.count }
    issues = try checked.issues.map { try JSONValue($0) }
  }
}
