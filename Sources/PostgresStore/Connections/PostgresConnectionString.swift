import CPostgres

/// A parsed connection string in one of libpq's two forms (`postgresql://…` or `host=… dbname=…`).
/// Its description contains no password and may be logged.
struct PostgresConnectionString: Sendable, CustomStringConvertible {
  /// The options in the string, with libpq's names and in libpq's order.
  private var options: [(name: String, value: String)]
  /// Names of options that must never be shown.
  private let secretNames: Set<String>

  /// - Throws: ``PostgresFailure/Kind/cannotConnect`` for a string that libpq cannot parse.
  init(_ text: String) throws(PostgresFailure) {
    guard !text.utf8.contains(0) else {
      throw PostgresFailure(.cannotConnect, "the connection string contains a NUL")
    }
    var reason: UnsafeMutablePointer<CChar>?
    guard let parsed = PQconninfoParse(text, &reason) else {
      let message = reason.map { String(cString: $0) } ?? "out of memory"
      PQfreemem(reason)
      throw PostgresFailure(
        .cannotConnect, "the connection string is malformed: \(Self.withoutQuoted(message))")
    }
    defer { PQconninfoFree(parsed) }
    var options: [(name: String, value: String)] = []
    var secretNames: Set<String> = []
    var entry = parsed
    // An entry without a keyword ends the array.
    while let keyword = entry.pointee.keyword {
      let name = String(cString: keyword)
      // libpq marks options such as passwords with `*`.
      if entry.pointee.dispchar.map({ String(cString: $0) }) == "*" { secretNames.insert(name) }
      if let value = entry.pointee.val { options.append((name, String(cString: value))) }
      entry += 1
    }
    self.options = options
    self.secretNames = secretNames
  }

  subscript(name: String) -> String? {
    options.first { $0.name == name }?.value
  }

  /// Sets an option unless the string has it.
  mutating func setDefault(_ name: String, _ value: String) {
    guard self[name] == nil else { return }
    options.append((name, value))
  }

  /// Sets an option, overriding the string.
  mutating func set(_ name: String, _ value: String) {
    options.removeAll { $0.name == name }
    options.append((name, value))
  }

  /// Prepends server options. The options of the string take precedence.
  mutating func prependServerOptions(_ text: String) {
    if let index = options.firstIndex(where: { $0.name == "options" }) {
      options[index].value = "\(text) \(options[index].value)"
    } else {
      options.append(("options", text))
    }
  }

  var keywords: [String] { options.map(\.name) }
  var values: [String] { options.map(\.value) }

  /// Servers, database and user.
  var description: String {
    let hosts = list("host") ?? list("hostaddr") ?? []
    let ports = list("port") ?? []
    let servers = hosts.enumerated().map { index, host in
      // A single port applies to all hosts.
      let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
      return port.isEmpty ? host : "\(host):\(port)"
    }
    let user = self["user"].map { "\($0)@" } ?? ""
    let database = self["dbname"].map { "/\($0)" } ?? ""
    return "postgresql://\(user)\(servers.joined(separator: ","))\(database)"
  }

  /// Whether the string has a password, or another option that must never be shown.
  var containsSecret: Bool {
    options.contains { secretNames.contains($0.name) && !$0.value.isEmpty }
  }

  /// Masks the values of secret options in a message of libpq.
  func scrub(_ text: String) -> String {
    options.reduce(text) { text, option in
      guard secretNames.contains(option.name), !option.value.isEmpty else { return text }
      return Self.replacing(option.value, in: text)
    }
  }

  private func list(_ name: String) -> [String]? {
    self[name].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  /// A quoted part of libpq's message may contain a part of the password.
  private static func withoutQuoted(_ text: String) -> String {
    let pieces = text.split(separator: "\"", omittingEmptySubsequences: false)
    let kept = pieces.enumerated().map { index, piece in index.isMultiple(of: 2) ? piece : "…" }
    return kept.joined(separator: "\"").trimmed
  }

  private static func replacing(_ secret: String, in text: String) -> String {
    var rest = text[...]
    var scrubbed = ""
    while let start = rest.firstIndex(where: { _ in true }) {
      if rest.hasPrefix(secret) {
        scrubbed += "***"
        rest = rest.dropFirst(secret.count)
      } else {
        scrubbed.append(rest[start])
        rest = rest.dropFirst()
      }
    }
    return scrubbed
  }
}
