import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import RPCClient
import Wire

struct GrantAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Grants an entitlement to an account.",
    discussion: """
      The account may be one that is not known yet. With --id the command can be repeated: an \
      existing grant of this id does not change.
      """)

  @Argument(help: "The account.")
  var account: String

  @Argument(help: "The entitlement's id in the catalog.")
  var entitlement: String

  @Option(help: "Start: RFC 3339 or milliseconds since 1970. Default: now.")
  var starts: Moment?

  @Option(help: "End, exclusive: RFC 3339 or milliseconds since 1970. Default: no end.")
  var expires: Moment?

  @Option(
    name: .customLong("for"),
    help: """
      Duration instead of --expires: ISO 8601, such as P1M or PT72H, from --starts, or else from \
      this machine's clock.
      """)
  var duration: CalendarDurationArgument?

  @Option(help: "UUID of the grant, which makes the command idempotent.")
  var id: String?

  @OptionGroup var audit: AuditOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if expires != nil, duration != nil {
      throw ValidationError("--expires and --for exclude each other")
    }
    if let starts, let end = end(from: starts.milliseconds), end <= starts.milliseconds {
      throw ValidationError("the grant ends before it starts")
    }
    if let id, UUID(uuidString: id) == nil { throw ValidationError("--id is not a UUID") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let now = Milliseconds.now
    let request = AddGrantRequest(
      grantID: id.map { GrantID($0.lowercased()) }, scope: scope,
      accountID: AccountID(account),
      entitlementID: EntitlementID(entitlement), starts: starts?.milliseconds,
      expires: end(from: starts?.milliseconds ?? now), reason: audit.reason,
      onBehalfOf: audit.onBehalfOf)
    let response = try await server.withClient { try await $0.addGrant(request) }
    try GrantOutput.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: the grant was known") }
  }

  /// - Returns: nil for a grant without end.
  private func end(from start: Milliseconds) -> Milliseconds? {
    expires?.milliseconds ?? duration?.duration.end(from: start)
  }
}
