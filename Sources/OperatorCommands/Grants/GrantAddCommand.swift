import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import RPCClient
import Wire

struct GrantAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Gives an account an entitlement.",
    discussion: """
      The account may be one of which nothing is known yet. With --id the command may be repeated: \
      of a grant that is known, what is kept stands.
      """)

  @Option(help: "The account.")
  var account: String

  @Option(help: "The entitlement, by the id that the catalog gives it.")
  var entitlement: String

  @Option(help: "Why, for those who look at it later.")
  var reason: String

  @Option(help: "Who gives it.")
  var author: String

  @Option(help: "From when: RFC 3339 or milliseconds since 1970. Default: now.")
  var starts: Moment?

  @Option(help: "Until when, exclusive: RFC 3339 or milliseconds since 1970. Default: without end.")
  var expires: Moment?

  @Option(
    name: .customLong("for"),
    help: """
      How long, instead of --expires: an ISO 8601 duration such as P1M or PT72H, from --starts, \
      else from this machine's clock.
      """)
  var duration: LengthOfTime?

  @Option(help: "A UUID that makes the grant once, however often it is sent.")
  var id: String?

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
    let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000))
    let request = AddGrantRequest(
      grantID: id.map { GrantID($0.lowercased()) }, scope: app.scope,
      accountID: AccountID(account),
      entitlementID: EntitlementID(entitlement), starts: starts?.milliseconds,
      expires: end(from: starts?.milliseconds ?? now), reason: reason, author: author)
    let response = try await server.withClient { try await $0.addGrant(request) }
    try GrantOutput.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: the grant was known") }
  }

  /// - Returns: nil when it has no end.
  private func end(from start: Milliseconds) -> Milliseconds? {
    expires?.milliseconds ?? duration?.duration.end(from: start)
  }
}
