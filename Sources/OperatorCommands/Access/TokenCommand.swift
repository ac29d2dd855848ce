import AccessControl
import ArgumentParser
import Cryptography
import EntitlementDomain
import Foundation
import Programs
import Wire

struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Tokens of callers.",
    subcommands: [TokenCreateCommand.self])
}

struct TokenCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Makes a token, without a server.",
    discussion: """
      The token is shown once: on stdout, or in the file of --out, which only its owner can read. \
      The lines for the server's file of credentials go to stderr; they have the token's SHA-256 \
      only. Without --role and --permission they are those of a token, for a caller that is in the \
      file already. With --output json all is one object on stdout.
      """)

  @Option(help: "The caller.")
  var name: String

  @Option(
    help: ArgumentHelp(
      """
      A role: \(Role.allCases.map(\.rawValue).joined(separator: ", ")). May be repeated.
      """, valueName: "role"))
  var role: [Role] = []

  @Option(
    help: ArgumentHelp(
      """
      A permission beyond the roles: \
      \(Permission.grantable.map(\.name).joined(separator: ", ")). May be repeated.
      """, valueName: "permission"))
  var permission: [PermissionArgument] = []

  @Option(
    help: ArgumentHelp(
      """
      An app that the caller may use, with its environments, separated by commas; without them all \
      environments. May be repeated. Default: all apps.
      """, valueName: "bundle-id[=environment,…]"))
  var app: [PermittedAppArgument] = []

  @Option(
    help: ArgumentHelp(
      """
      The end of the token: a day or a time (RFC 3339), a duration such as P90D (ISO 8601), or \
      never.
      """, valueName: "moment"))
  var expires = TokenExpiry.after(TokenExpiry.defaultTime)

  @Option(help: ArgumentHelp("Write the token to this new file.", valueName: "file"))
  var out: String?

  @OptionGroup var output: OutputOptions

  /// All in JSON. The format is a documented contract.
  struct Document: Encodable {
    let name: String
    let id: String
    let sha256: String
    let expiresMs: String?
    /// Absent with `--out`.
    let token: String?
    let stanza: String
  }

  func validate() throws {
    if role.isEmpty, permission.isEmpty, !app.isEmpty {
      throw ValidationError("--app needs --role or --permission")
    }
    let now = Milliseconds.now
    if let end = expires.end(from: now), end <= now {
      throw ValidationError("--expires is in the past")
    }
  }

  func run() throws {
    let token = AccessToken()
    let stanza = CredentialsStanza(
      name: name, roles: role, permissions: permission.map(\.permission),
      apps: app.map { ($0.bundleID, $0.environments) }, id: token.id,
      digest: try token.digest, expires: expires.end(from: .now))
    try stanza.check()
    if let out { try Self.write(token, to: out) }
    if output.output != .table {
      return try output.write(
        document: Document(
          name: name, id: token.id, sha256: stanza.digest.hexadecimal,
          expiresMs: stanza.expires.map { "\($0.rawValue)" },
          token: out == nil ? token.text : nil, stanza: stanza.text)
      ) { _ in "" }
    }
    if out == nil { try StandardOutput.write(token.text) }
    StandardError.write(stanza.text)
  }

  private static func write(_ token: AccessToken, to path: String) throws(CommandFailure) {
    // A token that a program still uses is not lost.
    guard !FileManager.default.fileExists(atPath: path) else {
      throw CommandFailure(.failed, "\(path): there is such a file already")
    }
    try PrivateFile.write(Array("\(token.text)\n".utf8), to: path)
  }
}
