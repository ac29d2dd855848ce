import EntitlementDomain
import YAMLFiles

extension CatalogReader {
  mutating func readApp(_ node: YAMLNode, at path: String) {
    guard
      var fields = fields(
        of: node, at: path,
        allowed: [
          "bundle_id", "app_apple_id", "environments", "link_policy", "claims_per_day",
          "claims_per_purchase", "chains_per_account", "anonymous_prefix", "archived_responses",
          "learned_hints",
          "account_token_namespace",
        ])
    else { return }
    let appAppleIDNode = fields.take("app_apple_id")
    let appAppleID = integer(appAppleIDNode, at: path + ".app_apple_id", range: 1...Int64.max)
    let environments = environments(fields.take("environments"), at: path + ".environments")
    let policies = linkPolicies(
      fields.take("link_policy"), at: path + ".link_policy", acceptedIn: environments)
    let claimsPerDay = integer(
      fields.take("claims_per_day"), at: path + ".claims_per_day", range: 1...1_000_000)
    let claimsPerPurchase = integer(
      fields.take("claims_per_purchase"), at: path + ".claims_per_purchase", range: 1...50)
    let chainsPerAccount = integer(
      fields.take("chains_per_account"), at: path + ".chains_per_account", range: 1...100_000)
    let anonymousPrefix = fields.take("anonymous_prefix").flatMap {
      self.anonymousPrefix($0, at: path + ".anonymous_prefix")
    }
    let archivedResponses = fields.take("archived_responses").flatMap {
      choice(
        $0, of: ArchivedResponsePolicy.self, "policy", at: path + ".archived_responses")
    }
    let learnedHints = fields.take("learned_hints").flatMap {
      choice($0, of: LearnedHintPolicy.self, "policy", at: path + ".learned_hints")
    }
    let tokenNamespace = fields.take("account_token_namespace").flatMap {
      self.tokenNamespace($0, at: path + ".account_token_namespace")
    }
    let idNode = fields.take("bundle_id")
    let id = identifier(idNode, at: path + ".bundle_id", in: node)
    if environments.contains(.production), appAppleIDNode == nil {
      report(
        "missing; needed where Production is accepted, since Apple's signed data is checked "
          + "against it",
        at: path + ".app_apple_id", node)
    }
    guard let id else { return }
    let app = CatalogApp(
      bundleID: BundleID(id), appAppleID: appAppleID, environments: environments,
      linkPolicies: policies, acceptsArchivedResponses: archivedResponses == .accept,
      anonymousPrefix: anonymousPrefix ?? CatalogApp.defaultAnonymousPrefix,
      claimsPerDay: claimsPerDay.map { Int($0) } ?? CatalogApp.defaultClaimsPerDay,
      claimsPerPurchase: claimsPerPurchase.map { Int($0) } ?? CatalogApp.defaultClaimsPerPurchase,
      chainsPerAccount: chainsPerAccount.map { Int($0) } ?? CatalogApp.defaultChainsPerAccount,
      usesLearnedHints: learnedHints != .ignore, tokenNamespace: tokenNamespace)
    if catalog.apps.updateValue(app, forKey: app.bundleID) != nil {
      report("named twice", at: path + ".bundle_id", idNode ?? node)
    }
  }

  /// The prefix of anonymous account ids, with the form of an account id. An empty prefix would
  /// make every account anonymous.
  private mutating func anonymousPrefix(_ node: YAMLNode, at path: String) -> String? {
    guard let prefix = text(node, at: path) else { return nil }
    let limit = CatalogApp.maximumAnonymousPrefixLength
    guard (1...limit).contains(prefix.utf8.count), prefix.unicodeScalars.allSatisfy(\.isPlain)
    else {
      report(
        "a prefix of account ids is expected: 1 to \(limit) bytes, without blanks and control "
          + "characters", at: path, node)
      return nil
    }
    return prefix
  }

  /// The namespace of tokens that the app derives from account ids (R74).
  private mutating func tokenNamespace(_ node: YAMLNode, at path: String) -> TokenNamespace? {
    guard let text = text(node, at: path) else { return nil }
    guard let namespace = TokenNamespace(text) else {
      report(
        "a UUID is expected, such as 3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4", at: path, node)
      return nil
    }
    return namespace
  }

  /// Whether hints link that were learned from submissions (R73). Raw values are the words of the
  /// catalog file.
  private enum LearnedHintPolicy: String, CaseIterable {
    case use
    case ignore
  }

  /// Whether operators may import archived responses of `verifyReceipt`. Raw values are the words
  /// of the catalog file.
  private enum ArchivedResponsePolicy: String, CaseIterable {
    case refuse
    case accept
  }

  private mutating func environments(
    _ node: YAMLNode?, at path: String
  ) -> Set<StoreEnvironment> {
    guard let node else { return [.production, .sandbox] }
    var result: Set<StoreEnvironment> = []
    if node.sequence?.isEmpty == true { report("at least one is needed", at: path, node) }
    for (index, item) in sequence(node, at: path).enumerated() {
      let field = "\(path)[\(index)]"
      guard let environment = choice(item, of: StoreEnvironment.self, "environment", at: field)
      else { continue }
      if !result.insert(environment).inserted { report("named twice", at: field, item) }
    }
    return result
  }

  /// Reads one policy for all environments, or a mapping of environments to policies (R44).
  private mutating func linkPolicies(
    _ node: YAMLNode?, at path: String, acceptedIn environments: Set<StoreEnvironment>
  ) -> [StoreEnvironment: LinkPolicy] {
    guard let node else { return [:] }
    if node.scalar != nil {
      guard let policy = choice(node, of: LinkPolicy.self, "policy", at: path) else { return [:] }
      return Dictionary(uniqueKeysWithValues: environments.map { ($0, policy) })
    }
    guard let entries = node.mapping else {
      report("a policy, or a mapping of environments to policies, is expected", at: path, node)
      return [:]
    }
    let accepted = StoreEnvironment.allCases.filter { environments.contains($0) }
    var policies: [StoreEnvironment: LinkPolicy] = [:]
    for entry in entries {
      let field = YAMLPath.field(entry.key, at: path)
      guard let environment = accepted.first(where: { $0.rawValue == entry.key }) else {
        let allowed = accepted.map(\.rawValue).joined(separator: ", ")
        report(
          "the app does not accept this environment; allowed: \(allowed)", at: field,
          entry.keyPosition)
        continue
      }
      policies[environment] = choice(entry.value, of: LinkPolicy.self, "policy", at: field)
    }
    return policies
  }
}
