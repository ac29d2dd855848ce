/// `psql` on one database.
package struct Psql: Sendable {
  package let uri: String

  package init(uri: String) {
    self.uri = uri
  }

  private static let options = [
    "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1",
  ]

  /// - Parameter script: SQL, small.
  /// - Returns: what it answers: a line for each row, the columns apart by `separator`.
  /// - Throws: ``Subprocess/Failure``; the reason is on stderr.
  @discardableResult
  package func run(_ script: String, separator: String = "|", null: String = "") throws -> String {
    let command =
      ["psql"] + Self.options + [
        "--field-separator", separator, "--pset", "null=\(null)", uri,
      ]
    return try Subprocess.output(of: command, input: script).text
  }

  /// The one number that a query answers.
  package func number(_ query: String) throws -> Int64 {
    let text = try run(query)
    guard let number = Int64(text.split(whereSeparator: \.isWhitespace).joined()) else {
      throw Subprocess.Failure(description: "psql did not answer a number")
    }
    return number
  }

  /// A program that reads commands until its input ends.
  package func session() throws -> Subprocess {
    try Subprocess(["psql"] + Self.options + [uri])
  }
}
