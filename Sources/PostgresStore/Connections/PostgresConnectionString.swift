import CPostgres

/// A connection string in one of libpq's two forms (`postgresql://…` or `host=… dbname=…`), taken
/// apart. It can be shown: its description has no password.
struct PostgresConnectionString: Sendable, CustomStringConvertible {
  /// The options that the string names, by libpq's names, in libpq's order.
  private var options: [(name: String, value: String)]
  /// Those that are never shown.
  private let secretNames: Set<String>

  /// - Throws: ``PostgresFailure/Kind/cannotConnect`` for a string that libpq does not understand.
  init(_ text: String) throws(PostgresFailure) {
    guard !text.utf8.contains(0) else {
      throw PostgresFailure(.cannotConnect, "the connection string has a NUL in it")
    }
    var reason: UnsafeMutablePointer<CChar>?
    guard let parsed = PQconninfoParse(text, &reason) else {
      let told = reason.map { String(cString: $0) } ?? "no memory"
      PQfreemem(reason)
      throw PostgresFailure(
        .cannotConnect, "the connection string is malformed: \(Self.withoutQuoted(told))")
    }
    defer { PQconninfoFree(parsed) }
    var options: [(name: String, value: String)] = []
    var secretNames: Set<String> = []
    var entry = parsed
    // The array ends with an entry without a keyword.
    while let keyword = entry.pointee.keyword {
      let name = String(cString: keyword)
      // libpq marks so what is to be hidden while it is typed.
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

  /// Adds an option that the string does not have.
  mutating func setDefault(_ name: String, _ value: String) {
    guard self[name] == nil else { return }
    options.append((name, value))
  }

  /// Sets an option, whatever the string says.
  mutating func set(_ name: String, _ value: String) {
    options.removeAll { $0.name == name }
    options.append((name, value))
  }

  /// Puts options for the server before those of the string, which weigh more.
  mutating func prependServerOptions(_ text: String) {
    if let index = options.firstIndex(where: { $0.name == "options" }) {
      options[index].value = "\(text) \(options[index].value)"
    } else {
      options.append(("options", text))
    }
  }

  var keywords: [String] { options.map(\.name) }
  var values: [String] { options.map(\.value) }

  /// Where it leads: servers, database and user.
  var description: String {
    let hosts = list("host") ?? list("hostaddr") ?? []
    let ports = list("port") ?? []
    let servers = hosts.enumerated().map { index, host in
      // One port serves all hosts; else each has its own.
      let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
      return port.isEmpty ? host : "\(host):\(port)"
    }
    let user = self["user"].map { "\($0)@" } ?? ""
    let database = self["dbname"].map { "/\($0)" } ?? ""
    return "postgresql://\(user)\(servers.joined(separator: ","))\(database)"
  }

  /// Takes all that is secret out of a text of libpq's.
  func scrub(_ text: String) -> String {
    options.reduce(text) { text, option in
      guard secretNames.contains(option.name), !option.value.isEmpty else { return text }
      return Self.replacing(option.value, in: text)
    }
  }

  private func list(_ name: String) -> [String]? {
    self[name].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  /// Whatever libpq quotes of a malformed string may be a part of the password.
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
