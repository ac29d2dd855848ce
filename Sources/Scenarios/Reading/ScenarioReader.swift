import EntitlementDomain
import StoreSimulator
import Yams

/// Walks the tree of a scenario file and makes a scenario of it, collecting every issue on the way.
struct ScenarioReader {
  let values: ValueReader
  let catalogs: CatalogNodeReader
  let expectations: ExpectationReader
  var facts: FactDraftReader
  var defaults = StepDefaults()

  /// In force at the step that is read; nil where it could not be read, which was reported.
  var catalog: Catalog?
  /// When the step before was received.
  var previousMoment: Milliseconds?
  /// How many payloads were planned.
  var payloadCount = 0
  /// Steps that can be repeated.
  var named: [String: ScenarioStep.Action] = [:]
  /// Life cycles that have begun.
  var lifeCycles: [String: LifeCycleProgress] = [:]
  /// Of the first transaction that is planned; who is asked about where nobody is named.
  var firstChain: OriginalTransactionID?

  var issues: IssueCollector { values.issues }

  init(values: ValueReader, folder: ScenarioFolder) {
    self.values = values
    catalogs = CatalogNodeReader(issues: values.issues, folder: folder)
    expectations = ExpectationReader(values: values)
    facts = FactDraftReader(values: values)
  }

  private static let fields = [
    "scenario", "about", "rules", "catalog", "bundle_id", "environment", "account", "facts",
    "shuffle", "steps",
  ]

  /// - Returns: nil when it was not even a scenario; what else is wrong is reported alone.
  mutating func scenario(from root: Node) -> Scenario? {
    guard var fields = NodeFields(root, at: "", allowed: Self.fields, issues: issues) else {
      return nil
    }
    let title = values.required(&fields, "scenario")
    let about = values.text(fields.take("about"), at: "about")
    let rules = citations(fields.take("rules"))
    let catalogNode = fields.take("catalog")
    catalog = catalogs.catalog(catalogNode, at: "catalog")
    let initialCatalog = catalog
    readDefaults(&fields, root: root)
    facts.readNamed(fields.take("facts"))
    let isShuffled = values.boolean(fields.take("shuffle"), at: "shuffle") ?? true
    guard let stepsNode = fields.take("steps") else {
      issues.report("missing", at: "steps", root)
      return nil
    }
    let stepNodes = values.list(stepsNode, at: "steps")
    if stepNodes.isEmpty { issues.report("at least one is needed", at: "steps", stepsNode) }
    var steps: [ScenarioStep] = []
    for item in stepNodes {
      if let step = step(item.node, at: item.path) { steps.append(step) }
    }
    guard let title, let initialCatalog else { return nil }
    return Scenario(
      title: title, about: about, rules: rules, catalog: initialCatalog, isShuffled: isShuffled,
      steps: steps.map { answered($0) })
  }

  private func citations(_ node: Node?) -> [String] {
    values.list(node, at: "rules").compactMap { item in
      guard let text = values.text(item.node, at: item.path) else { return nil }
      if !RuleCitation.isRule(text), !RuleCitation.isCase(text) {
        issues.report("R19 or case 2 is expected", at: item.path, item.node)
      }
      return text
    }
  }

  private mutating func readDefaults(_ fields: inout NodeFields, root: Node) {
    let environment: StoreEnvironment? = values.choice(
      fields.take("environment"), at: "environment")
    if let environment { defaults.environment = environment }
    defaults.account = values.identifier(fields.take("account"), at: "account")
      .map { AccountID($0) }
    if let node = fields.take("bundle_id") {
      defaults.bundleID = values.identifier(node, at: "bundle_id").map { BundleID($0) }
    } else if let catalog {
      guard catalog.apps.count == 1, let bundleID = catalog.apps.keys.first else {
        return issues.report(
          "missing; the catalog names \(catalog.apps.count) apps", at: "bundle_id", root)
      }
      defaults.bundleID = bundleID
    }
  }

  /// A question that names nobody asks about the first chain, which stands only now.
  private func answered(_ step: ScenarioStep) -> ScenarioStep {
    guard case .question(var question) = step.action, question.selector == nil else { return step }
    guard let firstChain else {
      issues.report(
        "nobody is asked about: there is no account, no customer and no transaction",
        at: step.path, line: step.line)
      return step
    }
    question.selector = .originalTransaction(firstChain)
    return ScenarioStep(
      line: step.line, path: step.path, at: step.at, account: step.account,
      action: .question(question), expectation: nil)
  }
}
