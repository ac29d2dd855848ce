import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import RPCClient
import Wire

struct CredentialsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "credentials", abstract: "Checks, shows and reloads files of credentials.",
    discussion: "deploy/docs/access.md describes the file.",
    subcommands: [
      CredentialsCheckCommand.self, CredentialsStatusCommand.self, CredentialsReloadCommand.self,
    ])
}

struct CredentialsStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows the callers in force, without secrets, and the last attempt to reload them.",
    discussion: "Names the tokens that have expired, and those that expire within 14 days.")

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let response = try await server.withClient { try await $0.credentials() }
    try output.write(response) { CredentialsText.text(of: $0, now: .now) }
  }
}

struct CredentialsReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Makes the server reload its file of credentials.",
    discussion: """
      A valid file is in force when the command ends. Exit code 2 when the file is not valid, 1 \
      when the server cannot read it: the old credentials stay in force.
      """)

  @Flag(help: "Only check the file.")
  var dryRun = false

  @OptionGroup var onBehalfOf: OnBehalfOfOption
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let response = try await server.withClient {
      try await $0.reloadCredentials(dryRun: dryRun, onBehalfOf: onBehalfOf.name)
    }
    try output.write(response) { CredentialsText.text(of: $0, now: .now) }
    guard let attempt = response.lastAttempt else {
      throw CommandFailure(.failed, "the server did not report the result")
    }
    if attempt.isValid { return }
    throw attempt.failure == nil
      ? CommandFailure(.refused, "the file is not valid; the old credentials stay in force")
      : CommandFailure(.failed, "the file cannot be read; the old credentials stay in force")
  }
}

/// The server's credentials as text for a terminal.
enum CredentialsText {
  static func text(of response: CredentialsResponse, now: Milliseconds) -> String {
    guard response.isEnabled else {
      return "the server has no credentials: every caller is local, and may do everything"
    }
    var lines = [
      StateTable.line("digest", response.digest ?? "-"),
      StateTable.line("in force since", response.inForceSince.display),
    ]
    lines += issues(response.warnings)
    lines += ["", callers(response.callers)]
    let expiring = expiring(response.callers, now: now)
    if !expiring.isEmpty { lines += [""] + expiring }
    if let attempt = response.lastAttempt {
      let verdict =
        attempt.failure.map { "not read: \($0)" } ?? (attempt.isValid ? "valid" : "not valid")
      lines += [
        "", StateTable.line("last attempt", "\(attempt.at.display), \(verdict)"),
      ]
      if let digest = attempt.digest { lines.append(StateTable.line("its digest", digest)) }
      // The issues of the credentials in force are listed above.
      if attempt.digest != response.digest { lines += issues(attempt.issues) }
    }
    return lines.joined(separator: "\n")
  }

  private static func callers(_ callers: [CallerEntry]) -> String {
    var table = TextTable(header: ["CALLER", "ROLES", "APPS", "TOKENS", "OTHER PROOFS"])
    for caller in callers {
      let others = caller.certificates + caller.users.map { "user \($0)" }
      table.add([
        caller.name, AccessText.list(caller.roles),
        AccessText.apps(caller.apps, isAll: caller.hasAllApps),
        AccessText.list(caller.tokens.map(\.id)), AccessText.list(others),
      ])
    }
    return table.text
  }

  /// A line for each token that has expired, or expires within 14 days: time for two weekends.
  static func expiring(_ callers: [CallerEntry], now: Milliseconds) -> [String] {
    callers.flatMap { caller in
      caller.tokens.compactMap { token in
        guard let expires = token.expires, expires.rawValue - now.rawValue < 14 * day else {
          return nil
        }
        let verb = expires <= now ? "expired" : "expires"
        return TerminalText.escaped(
          "token \(token.id) of \(caller.name) \(verb) \(expires.display)")
      }
    }
  }

  private static let day: Int64 = 86_400_000

  private static func issues(_ issues: [FileIssue]) -> [String] {
    issues.map { TerminalText.escaped($0.description) }
  }
}

extension Milliseconds {
  /// The time of this machine.
  static var now: Milliseconds { Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)) }
}
