import Cryptography
import EntitlementDomain
import Wire
import YAMLFiles

/// Builds the callers from the YAML tree of a file of credentials, and collects all issues.
struct CredentialsReader: YAMLFileReader {
  var issues = FileIssues()
  /// The number of a Unix user with this name.
  let user: (String) -> UInt32?
  /// What was named so far: a proof belongs to one caller.
  private var names: Set<String> = []
  private var tokenIDs: Set<String> = []
  private var digests: Set<SHA256Digest> = []
  private var certificates: Set<CertificateName> = []
  private var users: Set<UInt32> = []

  init(user: @escaping (String) -> UInt32?) {
    self.user = user
  }

  private static let largestLimit: Int64 = 100_000_000

  mutating func callers(from root: YAMLNode) -> [CredentialsFile.Description] {
    guard var fields = fields(of: root, at: "", allowed: ["version", "callers"]) else { return [] }
    if let version = fields.take("version") {
      if version.scalar != "1" { report("only version 1 is supported", at: "version", version) }
    } else {
      report("missing; the supported version is 1", at: "version", root)
    }
    let nodes = sequence(fields.take("callers"), at: "callers", required: root)
    return nodes.enumerated().compactMap { caller($1, at: "callers[\($0)]") }
  }

  private mutating func caller(
    _ node: YAMLNode, at path: String
  ) -> CredentialsFile.Description? {
    guard
      var fields = fields(
        of: node, at: path,
        allowed: [
          "name", "roles", "permissions", "apps", "tokens", "certificates", "users", "limits",
        ])
    else { return nil }
    let name = name(fields.take("name"), at: path + ".name", in: node)
    var caller = CredentialsFile.Description(name: name ?? "")
    readPermissions(&fields, of: &caller, at: path, node)
    caller.scopes = scopes(fields.take("apps"), at: path + ".apps")
    let tokens = sequence(fields.take("tokens"), at: path + ".tokens")
    caller.tokens = tokens.enumerated().compactMap { token($1, at: "\(path).tokens[\($0)]") }
    let certificates = sequence(fields.take("certificates"), at: path + ".certificates")
    caller.certificates = certificates.enumerated().compactMap {
      certificate($1, at: "\(path).certificates[\($0)]")
    }
    let users = sequence(fields.take("users"), at: path + ".users")
    caller.users = users.enumerated().compactMap { userID($1, at: "\(path).users[\($0)]") }
    caller.limits = limits(fields.take("limits"), at: path + ".limits")
    if tokens.isEmpty, certificates.isEmpty, users.isEmpty {
      report(
        "has no tokens, certificates or users: nobody can be this caller", at: path, node,
        severity: .warning)
    }
    return name == nil ? nil : caller
  }

  /// A name that can stand in logs, metrics and the audit trail.
  private mutating func name(_ node: YAMLNode?, at path: String, in parent: YAMLNode) -> String? {
    guard let text = identifier(node, at: path, in: parent), let node else { return nil }
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"), UInt8(ascii: "@"):
        true
      default: false
      }
    }
    guard isPlain, text.utf8.count <= 64 else {
      report("a name has at most 64 letters, digits and . _ - @", at: path, node)
      return nil
    }
    if text.hasPrefix(AccessToken.prefix) {
      report(
        "this is a token, not a name: replace it at once, as the file shows it", at: path, node)
    } else if Caller.reservedNames.contains(text) {
      report("this name is reserved", at: path, node)
    } else if !names.insert(text).inserted {
      report("named twice", at: path, node)
    }
    return text
  }

  private mutating func readPermissions(
    _ fields: inout YAMLFields, of caller: inout CredentialsFile.Description, at path: String,
    _ node: YAMLNode
  ) {
    let roles = sequence(fields.take("roles"), at: path + ".roles")
    for (index, item) in roles.enumerated() {
      let field = "\(path).roles[\(index)]"
      guard let role = choice(item, of: Role.self, "role", at: field) else { continue }
      if caller.roles.contains(role) { report("named twice", at: field, item) }
      caller.roles.append(role)
      caller.permissions.formUnion(role.permissions)
    }
    var named: PermissionSet = []
    let permissions = sequence(fields.take("permissions"), at: path + ".permissions")
    for (index, item) in permissions.enumerated() {
      let field = "\(path).permissions[\(index)]"
      guard let permission = item.scalar.flatMap({ Permission(name: $0) }) else {
        let allowed = Permission.grantable.map(\.name).joined(separator: ", ")
        report("unknown permission; allowed: \(allowed)", at: field, item)
        continue
      }
      if !named.insert(PermissionSet(permission)).inserted {
        report("named twice", at: field, item)
      }
      caller.permissions.insert(PermissionSet(permission))
    }
    if roles.isEmpty, permissions.isEmpty {
      report("roles, permissions or both are needed", at: path, node)
    }
    caller.permissions.formUnion(PermissionSet([.open, .identity]))
  }

  private mutating func scopes(_ node: YAMLNode?, at path: String) -> AppScopes {
    guard let node else { return .all }
    guard let entries = node.mapping else {
      report(
        "a mapping of bundle ids to environments, such as com.example.scribe: [Production], is "
          + "expected", at: path, node)
      return AppScopes([:])
    }
    if entries.isEmpty {
      report("at least one app is needed; without apps, a caller may use all", at: path, node)
    }
    var apps: [BundleID: Set<StoreEnvironment>] = [:]
    for entry in entries {
      let field = YAMLPath.field(entry.key, at: path)
      let isPlain =
        (1...255).contains(entry.key.utf8.count)
        && entry.key.unicodeScalars.allSatisfy(\.isPlain)
      if !isPlain {
        report(
          "a bundle id has 1 to 255 bytes, without blanks and control characters", at: field,
          entry.keyPosition)
      }
      var environments: Set<StoreEnvironment> = []
      for (index, item) in sequence(entry.value, at: field, required: entry.value).enumerated() {
        let place = "\(field)[\(index)]"
        guard let environment = choice(item, of: StoreEnvironment.self, "environment", at: place)
        else { continue }
        if !environments.insert(environment).inserted { report("named twice", at: place, item) }
      }
      apps[BundleID(entry.key)] = environments
    }
    return AppScopes(apps)
  }

  // MARK: Proofs

  private mutating func token(_ node: YAMLNode, at path: String) -> Credentials.Token? {
    guard var fields = fields(of: node, at: path, allowed: ["id", "sha256", "expires"]) else {
      return nil
    }
    let idNode = fields.take("id")
    let id = identifier(idNode, at: path + ".id", in: node)
    if let id, let idNode {
      if !AccessToken.isID(id) {
        report(
          "the id of a token has \(AccessToken.idLength) letters and digits; make tokens with "
            + "`entitlectl token create`", at: path + ".id", idNode)
      } else if !tokenIDs.insert(id).inserted {
        report("named twice", at: path + ".id", idNode)
      }
    }
    let digest = digest(fields.take("sha256"), at: path + ".sha256", in: node)
    let expires = expiry(fields.take("expires"), at: path + ".expires", in: node)
    guard let id, let digest, let expires else { return nil }
    return Credentials.Token(id: id, digest: digest, expires: expires == .max ? nil : expires)
  }

  /// Does not repeat the text: it may be a token that was put here by mistake.
  private mutating func digest(
    _ node: YAMLNode?, at path: String, in parent: YAMLNode
  ) -> SHA256Digest? {
    guard let node else {
      report("missing", at: path, parent)
      return nil
    }
    guard let digest = node.scalar.flatMap({ SHA256Digest(hexadecimal: $0) }) else {
      let isToken = node.scalar?.hasPrefix(AccessToken.prefix) ?? false
      report(
        isToken
          ? "this is a token itself: replace it at once, as the file shows it; its SHA-256 belongs here"
          : "64 hexadecimal digits are expected", at: path, node)
      return nil
    }
    if !digests.insert(digest).inserted { report("the same token twice", at: path, node) }
    return digest
  }

  /// Required, so that nobody forgets it; `Milliseconds.max` for `never`.
  private mutating func expiry(
    _ node: YAMLNode?, at path: String, in parent: YAMLNode
  ) -> Milliseconds? {
    guard let node else {
      report("missing: a moment such as 2027-01-31T00:00:00Z, or never", at: path, parent)
      return nil
    }
    return node.scalar == "never" ? .max : moment(node, at: path)
  }

  private mutating func certificate(_ node: YAMLNode, at path: String) -> CertificateName? {
    guard let text = identifier(node, at: path, in: node) else { return nil }
    let name: CertificateName
    if text.hasPrefix("dns:"), text.utf8.count > 4 {
      // Names of hosts are compared without case (RFC 4343).
      name = .dns(text.dropFirst(4).lowercased())
    } else if text.contains("://") {
      name = .uri(text)
    } else {
      report(
        "a URI such as spiffe://example.com/billing, or dns:NAME, is expected: a subject "
          + "alternative name, compared exactly", at: path, node)
      return nil
    }
    if !certificates.insert(name).inserted { report("named twice", at: path, node) }
    return name
  }

  private mutating func userID(_ node: YAMLNode, at path: String) -> UInt32? {
    guard let text = identifier(node, at: path, in: node) else { return nil }
    guard let user = UInt32(text) ?? user(text) else {
      report("no Unix user has this number or name", at: path, node)
      return nil
    }
    if user == Credentials.overflowUser {
      report("this user stands for all users of other user namespaces", at: path, node)
      return nil
    }
    if !users.insert(user).inserted { report("named twice", at: path, node) }
    return user
  }

  // MARK: Limits

  private mutating func limits(_ node: YAMLNode?, at path: String) -> CallerLimits {
    guard let node,
      var fields = fields(
        of: node, at: path,
        allowed: [
          "reads_per_second", "expensive_reads_per_second", "submissions_per_second", "in_flight",
          "connections",
        ])
    else { return CallerLimits() }
    func limit(_ name: String, _ reader: inout Self) -> Int? {
      reader.integer(fields.take(name), at: "\(path).\(name)", range: 1...Self.largestLimit)
        .map { Int($0) }
    }
    return CallerLimits(
      readsPerSecond: limit("reads_per_second", &self),
      expensiveReadsPerSecond: limit("expensive_reads_per_second", &self),
      submissionsPerSecond: limit("submissions_per_second", &self),
      inFlight: limit("in_flight", &self), connections: limit("connections", &self))
  }
}

extension Milliseconds {
  /// After every moment of a file.
  static let max = Milliseconds(.max)
}
