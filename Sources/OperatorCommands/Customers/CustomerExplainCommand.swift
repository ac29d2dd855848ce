import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct CustomerExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Explains why a customer has an entitlement or not.",
    discussion: """
      For each entitlement of the catalog and each subscription group: the deciding rule, the \
      facts, grants and catalog rules that were considered, and what would change the answer and \
      when. With --catalog the answer is evaluated under another catalog, which the server does \
      not keep; exit code 2 when that catalog is not valid.
      """)

  @OptionGroup var customer: CustomerOptions

  @Option(help: "Answer for this time: RFC 3339 or milliseconds since 1970. Default: now.")
  var at: Moment?

  @OptionGroup var knowledge: KnowledgeOptions

  @Option(help: "Evaluate under this catalog file, or - for stdin. Default: the catalog in force.")
  var catalog: String?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = ExplainCustomerStateRequest(
      customer: customer.selector, scope: scope, at: at?.milliseconds,
      catalogYAML: try catalog.map { path throws(CommandFailure) in try Self.text(of: path) },
      knowledge: knowledge.value)
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

  /// A catalog that is not valid is a refusal. The message lists all its errors.
  private static func failure(of error: RPCClientError) -> CommandFailure {
    let violations = error.fieldViolations.filter { $0.field == "catalog_yaml" }
    if violations.isEmpty { return CommandFailure(error) }
    return CommandFailure(.refused, violations.map(\.description).joined(separator: "\n"))
  }
}

/// The explanation of a customer's state as text for a terminal.
enum ExplanationText {
  /// - Parameter catalog: the file that replaced the catalog in force for this answer; nil: none.
  static func text(of explanation: Explanation, catalog: String? = nil) -> String {
    let state = explanation.state
    var lines = StateTable.heading(of: state)
    if let catalog { lines.append(StateTable.line("catalog", catalog)) }
    lines += [
      StateTable.line("state", wireName(state.coreState)),
      StateTable.line("evaluated at", state.evaluatedAt.display),
    ]
    if let omitted = explanation.omitted { lines += [""] + self.lines(on: omitted) }
    for entitlement in explanation.entitlements {
      let outcome = entitlement.isConferred ? "conferred" : "not conferred"
      lines += ["", escaped("entitlement \(entitlement.entitlementID): \(outcome)")]
      lines += body(of: entitlement.reasoning)
    }
    for group in explanation.groups {
      lines += ["", escaped("group \(group.groupID): \(wireName(group.status))")]
      lines += body(of: group.reasoning)
    }
    return lines.joined(separator: "\n")
  }

  /// What a truncated explanation leaves out (R31).
  private static func lines(on omitted: ExplanationOmissions) -> [String] {
    let counts = [
      (omitted.entitlements, "entitlements"), (omitted.groups, "subscription groups"),
      (omitted.products, "products"),
      (omitted.stateEntitlements, "conferred entitlements of the state"),
      (omitted.sources, "sources of entitlements"),
      (omitted.grandfathering, "grandfathering rules"),
    ]
    return ["truncated: this customer has more than an explanation lists. Not listed:"]
      + counts.filter { $0.0 > 0 }.map { "  \($0.0) \($0.1)" }
  }

  private static func body(of reasoning: Reasoning) -> [String] {
    var others = items(reasoning.considered.filter { !$0.isDecisive }, of: reasoning)
    if reasoning.consideredOmitted > 0 {
      others.append("    and \(reasoning.consideredOmitted) more, not listed")
    }
    var changes = changes(reasoning.changes)
    if let end = reasoning.changesCompleteUntil {
      changes.append("    what changes with time after \(end.display) is not listed")
    }
    let sections = [
      ("decided by", items(reasoning.considered.filter(\.isDecisive), of: reasoning)),
      ("also considered", others), ("would change it", changes),
    ]
    return ["  \(sentence(reasoning.decision))"]
      + sections.flatMap { title, lines in lines.isEmpty ? [] : ["  \(title)"] + lines }
  }

  private static func items(_ items: [ConsideredItem], of reasoning: Reasoning) -> [String] {
    items.flatMap { item in
      var line = "    \(name(of: item.kind)) \(item.identifier)"
      if let productID = item.productID { line += ", \(productID)" }
      if let statedAt = item.statedAt {
        line += ", \(item.kind == .grant ? "given" : "stated") \(statedAt.display)"
      }
      // The sentence of the decision is already printed above.
      let own = item.decision == reasoning.decision ? [] : ["      \(sentence(item.decision))"]
      return [escaped(line)] + own
    }
  }

  /// One line a change: its time, or `at any time`, then the sentence.
  private static func changes(_ changes: [ExpectedChange]) -> [String] {
    let moments = changes.map { $0.at?.display ?? "at any time" }
    let width = moments.map(\.count).max() ?? 0
    return zip(changes, moments).map { change, moment in
      let space = String(repeating: " ", count: width - moment.count)
      return "    \(moment)\(space)  \(sentence(change.decision))"
    }
  }

  private static func sentence(_ decision: Decision) -> String {
    escaped("\(decision.rule): \(decision.sentence)")
  }

  private static func name(of kind: ConsideredItem.Kind) -> String {
    switch kind {
    case .transaction: "transaction"
    case .renewalInfo: "renewal info of chain"
    case .appTransaction: "app transaction"
    case .grant: "grant"
    case .grandfatheringRule: "grandfathering rule"
    }
  }

  private static func escaped(_ text: String) -> String {
    TerminalText.escaped(text)
  }
}
