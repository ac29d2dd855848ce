import EntitlementDomain
import StoreSimulator
import Yams

/// Converts the YAML tree of a scenario file to a ``Scenario`` and collects all issues.
struct ScenarioReader {
  let values: ValueReader
  let catalogs: CatalogNodeReader
  let expectations: ExpectationReader
  var facts: FactDraftReader
  var defaults = StepDefaults()

  /// The catalog in force at the current step; nil if it could not be read, which was reported.
  var catalog: Catalog?
  /// The time of the previous step.
  var previousMoment: Milliseconds?
  /// The number of payloads planned so far.
  var payloadCount = 0
  /// The actions of named steps, which `again` repeats.
  var named: [String: ScenarioStep.Action] = [:]
  /// Life cycles that have begun, by name.
  var lifeCycles: [String: LifeCycleProgress] = [:]
  /// The chain of the first transaction: the subject of queries that name no customer.
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

  /// - Returns: nil when the title, the catalog or the steps are missing or not valid. Other issues
  ///   are only reported.
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
      steps: steps.map { resolved($0) })
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

  /// Fills in the first chain for a query that names no customer. The chain is known only after all
  /// steps are read.
  private func resolved(_ step: ScenarioStep) -> ScenarioStep {
    guard case .query(var query) = step.action, query.selector == nil else { return step }
    guard let firstChain else {
      issues.report(
        "no customer is selected: there is no account, no customer and no transaction",
        at: step.path, line: step.line)
      return step
    }
    query.selector = .originalTransaction(firstChain)
    return ScenarioStep(
      line: step.line, path: step.path, at: step.at, account: step.account,
      action: .query(query), expectation: nil)
  }
}

/// Values of the file that apply to each step that does not override them.
struct StepDefaults {
  /// Nil if the catalog could not be read, which was reported.
  var bundleID: BundleID?
  var environment = StoreEnvironment.production
  var account: AccountID?

  var scope: AppScope {
    AppScope(bundleID: bundleID ?? "", environment: environment)
  }
}

/// The fields of a step that do not depend on its kind.
struct StepFrame {
  let node: Node
  let path: String
  let account: AccountID?
  let scope: AppScope
  let atNode: Node?
}

/// The form in which scenarios cite a rule or a named case of rules.md.
enum RuleCitation {
  /// R1 to R94.
  static func isRule(_ text: String) -> Bool { isNumber(after: "R", in: text, upTo: 94) }

  /// "case 1" to "case 26", of rules.md §10.
  static func isCase(_ text: String) -> Bool { isNumber(after: "case ", in: text, upTo: 26) }

  private static func isNumber(after prefix: String, in text: String, upTo last: Int) -> Bool {
    (1...last).contains { text == "\(prefix)\($0)" }
  }
}
