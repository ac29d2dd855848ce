import Foundation

/// Runs `psql` on one database.
package struct Psql: Sendable {
  package let uri: String
  private let program: String

  /// - Parameter program: looked up in PATH.
  package init(uri: String, program: String = "psql") {
    self.uri = uri
    self.program = program
  }

  private static let options = [
    "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1",
  ]

  /// - Parameter script: a short SQL script.
  /// - Returns: one line for each row, with columns separated by `separator`.
  /// - Throws: ``Subprocess/Failure``; the reason is on stderr.
  @discardableResult
  package func run(_ script: String, separator: String = "|", null: String = "") throws -> String {
    let options = ["--field-separator", separator, "--pset", "null=\(null)"]
    return try start(options).output(input: script).text
  }

  /// Runs a query that returns a single number.
  ///
  /// - Throws: ``Subprocess/Failure``, also when the output is not a number.
  package func number(_ query: String) throws -> Int64 {
    let text = try run(query)
    guard let number = Int64(text.split(whereSeparator: \.isWhitespace).joined()) else {
      throw Subprocess.Failure(description: "the output of psql is not a number")
    }
    return number
  }

  /// Starts a process that reads commands until its input ends.
  package func session() throws -> Subprocess { try start([]) }

  private func start(_ options: [String]) throws -> Subprocess {
    let target = PostgresURI(uri)
    let environment = target.password.map { ["PGPASSWORD": $0] } ?? [:]
    return try Subprocess(
      [program] + Self.options + options + [target.text], environment: environment)
  }
}

/// The URI of a database without its password. Other users of the machine can see the arguments of
/// a process, but not its environment.
struct PostgresURI: Hashable, Sendable {
  /// The URI without the password.
  private(set) var text: String
  /// Nil when the URI has none. libpq then uses its other sources.
  private(set) var password: String?

  /// Splits the URI like libpq: the user and, after a colon, the password precede the first `@` of
  /// the authority. A `password` parameter takes precedence.
  init(_ uri: String) {
    text = uri
    guard let start = uri.firstRange(of: "://")?.upperBound else { return }
    let user = uri[start...].prefix { $0 != "@" && $0 != "/" }
    if user.endIndex < uri.endIndex, uri[user.endIndex] == "@",
      let colon = user.firstIndex(of: ":")
    {
      password = Self.decoded(user[user.index(after: colon)...])
      text = "\(uri[..<colon])\(uri[user.endIndex...])"
    }
    guard let mark = text.firstIndex(of: "?") else { return }
    var kept: [Substring] = []
    for parameter in text[text.index(after: mark)...].split(separator: "&") {
      if parameter.hasPrefix("password=") {
        password = Self.decoded(parameter.dropFirst("password=".count))
      } else {
        kept.append(parameter)
      }
    }
    text = text[..<mark] + (kept.isEmpty ? "" : "?\(kept.joined(separator: "&"))")
  }

  private static func decoded(_ text: Substring) -> String {
    text.removingPercentEncoding ?? String(text)
  }
}
