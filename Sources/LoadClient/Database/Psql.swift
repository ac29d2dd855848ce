/// `psql` on one database.
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

  /// - Parameter script: SQL, small.
  /// - Returns: what it answers: a line for each row, the columns apart by `separator`.
  /// - Throws: ``Subprocess/Failure``; the reason is on stderr.
  @discardableResult
  package func run(_ script: String, separator: String = "|", null: String = "") throws -> String {
    let options = ["--field-separator", separator, "--pset", "null=\(null)"]
    return try start(options).output(input: script).text
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
  package func session() throws -> Subprocess { try start([]) }

  private func start(_ options: [String]) throws -> Subprocess {
    let target = PostgresURI(uri)
    let environment = target.password.map { ["PGPASSWORD": $0] } ?? [:]
    return try Subprocess(
      [program] + Self.options + options + [target.text], environment: environment)
  }
}
