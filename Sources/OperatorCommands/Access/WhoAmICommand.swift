import AccessControl
import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct WhoAmICommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami", abstract: "Shows who the server takes you for, and what you may do.",
    discussion: """
      Exit code 4 when the server does not accept the token, and when there is no proof of who \
      calls.
      """)

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let response = try await server.withClient { try await $0.whoAmI() }
    try output.write(response, table: AccessText.text)
  }
}

/// What a caller may do as text for a terminal.
enum AccessText {
  static func text(of caller: WhoAmIResponse) -> String {
    var lines = [
      StateTable.line("name", caller.name),
      StateTable.line("proof", caller.proof.map { wireName($0) } ?? "none is asked for"),
    ]
    if let token = caller.tokenID {
      lines += [
        StateTable.line("token", token),
        StateTable.line("expires", caller.tokenExpires?.display ?? "never"),
      ]
    }
    lines += [
      StateTable.line("roles", list(caller.roles)),
      StateTable.line("permissions", list(caller.permissions.map(\.name))),
      StateTable.line("apps", apps(caller.apps, isAll: caller.hasAllApps)),
    ]
    if let limits = caller.limits { lines.append(StateTable.line("limits", text(of: limits))) }
    return lines.joined(separator: "\n")
  }

  private static func text(of limits: CallerLimits) -> String {
    let numbers = [
      (limits.readsPerSecond, "reads/s"), (limits.expensiveReadsPerSecond, "expensive reads/s"),
      (limits.submissionsPerSecond, "submissions/s"), (limits.inFlight, "calls in flight"),
      (limits.connections, "connections"),
    ]
    return list(numbers.compactMap { number, unit in number.map { "\($0) \(unit)" } })
  }

  /// `com.example.scribe (Production, Sandbox)`, or `all`.
  static func apps(_ apps: [PermittedApp], isAll: Bool) -> String {
    if isAll { return "all" }
    return list(
      apps.map { app in
        let environments = app.environments.map(\.rawValue).joined(separator: ", ")
        return "\(app.bundleID) (\(environments))"
      })
  }

  static func list(_ texts: [String]) -> String {
    texts.isEmpty ? "-" : texts.joined(separator: ", ")
  }
}
