package import Cryptography
package import EntitlementDomain
package import Wire
import YAMLFiles

/// Parses the file of credentials. The format is the subset of YAML that `YAMLReader` reads.
///
/// ```yaml
/// version: 1
/// callers:
///   - name: billing
///     roles: [submitter]
///     permissions: [offers]
///     apps:
///       com.example.scribe: [Production]
///     tokens:
///       - id: k3Jd8sQz
///         sha256: 64 hexadecimal digits
///         expires: 2027-01-31T00:00:00Z
///     certificates: ["spiffe://example.com/billing", "dns:billing.example.com"]
///     users: [1001]
///     limits: {reads_per_second: 5000, in_flight: 200}
/// ```
package enum CredentialsFile {
  /// In bytes: thousands of callers.
  package static let maximumBytes = 1 << 20

  /// A caller of a valid file, before it has a meter.
  package struct Description: Hashable, Sendable {
    package var name: String
    package var roles: [Role] = []
    /// Those of the roles, and those beside them.
    package var permissions: PermissionSet = []
    package var scopes = AppScopes.all
    package var tokens: [Credentials.Token] = []
    package var certificates: [CertificateName] = []
    package var users: [UInt32] = []
    package var limits = CallerLimits()
  }

  /// A valid file with its warnings.
  package struct Contents: Sendable {
    package let callers: [Description]
    /// In the order of the file.
    package let warnings: [FileIssue]
  }

  /// The errors of a file that is not valid, and its warnings, in the order of the file.
  package struct Invalid: Error, Sendable {
    package let issues: [FileIssue]
  }

  /// Parses a file.
  ///
  /// - Parameter user: the number of a Unix user with this name.
  /// - Throws: ``Invalid`` with all issues, each with its line and field. None repeats a digest.
  package static func parse(
    _ text: String, user: @escaping (String) -> UInt32?
  ) throws(Invalid) -> Contents {
    let root: YAMLNode?
    do {
      root = try YAMLReader.document(in: text)
    } catch {
      throw refusal("not YAML: \(error.message)", at: error.position)
    }
    guard let root else {
      throw refusal("the file is empty", at: YAMLPosition(line: 1, column: 1))
    }
    var reader = CredentialsReader(user: user)
    let callers = reader.callers(from: root)
    let issues = reader.issues.sorted.map(\.withoutSecrets)
    guard !reader.issues.hasErrors else { throw Invalid(issues: issues) }
    return Contents(callers: callers, warnings: issues)
  }

  private static func refusal(_ message: String, at position: YAMLPosition) -> Invalid {
    Invalid(issues: [
      FileIssue(
        severity: .error, line: position.line, column: position.column, field: "",
        message: message
      ).withoutSecrets
    ])
  }
}

extension FileIssue {
  /// Paths and messages repeat keys of the file, and a key may be a token or a digest that was put in
  /// the wrong place. Words that may be one are replaced.
  fileprivate var withoutSecrets: FileIssue {
    FileIssue(
      severity: severity, line: line, column: column, field: Self.hidingSecrets(in: field),
      message: Self.hidingSecrets(in: message))
  }

  /// Longer than every field and word of a message, and shorter than the secret of a token.
  private static let longestWord = 31

  private static func hidingSecrets(in text: String) -> String {
    var shown = ""
    var rest = text[...]
    while let first = rest.first {
      guard isInWord(first) else {
        shown.append(rest.removeFirst())
        continue
      }
      let word = rest.prefix(while: isInWord)
      rest = rest.dropFirst(word.count)
      let isHidden = word.count > longestWord || word.contains(AccessToken.prefix)
      shown += isHidden ? "(hidden)" : word
    }
    return shown
  }

  private static func isInWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_"
  }
}
