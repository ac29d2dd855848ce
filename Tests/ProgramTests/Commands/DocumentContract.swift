import StoreSimulator
import Testing

/// What the tests of the JSON contract share.
enum DocumentContract {
  /// The simulator's catalog, with a grandfathering rule.
  static let catalog =
    SimulatedApp.catalogYAML + """
      grandfathering:
        - id: early
          bundle_id: com.example.scribe
          entitlements: [season]
          original_version_before: {iOS: "100"}
          original_purchase_date_before: 2020-01-01T00:00:00Z

      """

  /// A command, what it reads on stdin, and every name in what it prints as JSON.
  typealias Row = ([String], String, [String])

  /// Runs commands one after the other.
  ///
  /// - Parameter closed: members that are named but not looked into.
  static func compare(_ rows: [Row], closed: Set<String> = []) async throws {
    for (arguments, input, names) in rows {
      let run = try await ProgramRun.of(
        .entitlectl, arguments + ["--output", "jsonl"], input: input)
      let places = try run.lines(JSONTree.self).reduce(into: Set<String>()) {
        $0.formUnion($1.places(closed: closed))
      }
      #expect(places.sorted() == names.map { ".\($0)" }.sorted(), "\(arguments)")
    }
  }

  /// The names inside of something.
  static func names(in parent: String, _ names: [String]) -> [String] {
    [parent] + names.map { "\(parent).\($0)" }
  }
}
