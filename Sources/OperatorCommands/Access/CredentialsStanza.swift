import AccessControl
import ArgumentParser
import Cryptography
import EntitlementDomain
import Wire

/// The lines of a caller in a file of credentials.
struct CredentialsStanza {
  let name: String
  let roles: [Role]
  let permissions: [Permission]
  let apps: [(bundleID: String, environments: [StoreEnvironment])]
  let id: String
  let digest: SHA256Digest
  let expires: Milliseconds?

  /// - Throws: `ValidationError` when the server would refuse the lines.
  func check() throws {
    let hasCaller = !roles.isEmpty || !permissions.isEmpty
    let lines =
      hasCaller
      ? callerLines : ["  - name: \(Self.quoted(name))", "    roles: [reader]"] + tokenLines
    let file = (["version: 1", "callers:"] + lines).joined(separator: "\n") + "\n"
    do throws(CredentialsFile.Invalid) {
      _ = try CredentialsFile.parse(file) { _ in nil }
    } catch {
      throw ValidationError(
        error.issues.map { "\($0.field): \($0.message)" }.joined(separator: "\n"))
    }
  }

  var text: String {
    let lines =
      roles.isEmpty && permissions.isEmpty
      ? ["# For the tokens of \(name) in the file of credentials:"] + tokenLines
      : ["# For the callers in the file of credentials:"] + callerLines
    return lines.joined(separator: "\n")
  }

  private var callerLines: [String] {
    var lines = ["  - name: \(Self.quoted(name))"]
    if !roles.isEmpty {
      lines.append("    roles: [\(roles.map(\.rawValue).joined(separator: ", "))]")
    }
    if !permissions.isEmpty {
      lines.append("    permissions: [\(permissions.map(\.name).joined(separator: ", "))]")
    }
    if !apps.isEmpty {
      lines.append("    apps:")
      for app in apps {
        let environments = app.environments.map(\.rawValue).joined(separator: ", ")
        lines.append("      \(Self.quoted(app.bundleID)): [\(environments)]")
      }
    }
    return lines + tokenLines
  }

  private var tokenLines: [String] {
    [
      "    tokens:",
      "      - id: \"\(id)\"",
      "        sha256: \"\(digest.hexadecimal)\"",
      "        expires: \(expires?.rfc3339 ?? "never")",
    ]
  }

  /// A text in single quotes, where only they are special (YAML 1.2, section 7.3.2).
  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }
}
