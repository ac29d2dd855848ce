import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct CustomerExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Why a customer may use something, or not.",
    discussion: """
      For each entitlement of the catalog and each subscription group: the rule that decided, the \
      facts, grants and rules of the catalog that were considered, and what would change the \
      answer, and when. With --catalog it answers under another catalog, which is not kept: exit \
      code 2 when that one is not valid.
      """)

  @OptionGroup var customer: CustomerOptions

  @Option(help: "Answer for this moment: RFC 3339 or milliseconds since 1970. Default: now.")
  var at: Moment?

  @Option(help: "Answer under this catalog file, or - for stdin. Default: the one in force.")
  var catalog: String?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let request = ExplainCustomerStateRequest(
      customer: customer.selector, scope: app.scope, at: at?.milliseconds,
      catalogYAML: try catalog.map { path throws(CommandFailure) in try Self.text(of: path) })
    let answer = try await server.withClient { client in
      do throws(RPCClientError) {
        return try await client.explain(request)
      } catch {
        throw Self.failure(of: error)
      }
    }
    try output.write(answer) {
      ExplanationText.text(of: $0.explanation, catalog: catalog == "-" ? "stdin" : catalog)
    }
  }

  private static func text(of path: String) throws(CommandFailure) -> String {
    let bytes = try InputFile.contents(
      of: path, limit: ExplainCustomerStateRequest.maximumCatalogYAMLLength)
    guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
      throw CommandFailure(.refused, "\(path): \(bytes.isEmpty ? "empty" : "not UTF-8")")
    }
    return text
  }

  /// A catalog that the server does not take is a refusal, with everything that is wrong with it.
  private static func failure(of error: RPCClientError) -> CommandFailure {
    let violations = error.fieldViolations.filter { $0.field == "catalog_yaml" }
    if violations.isEmpty { return CommandFailure(error) }
    return CommandFailure(.refused, violations.map(\.description).joined(separator: "\n"))
  }
}
