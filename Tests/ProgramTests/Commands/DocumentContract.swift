import Foundation
import StoreSimulator
import Testing
import Wire

/// The common parts of the tests of the JSON contract.
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

  /// Runs commands in turn that print messages.
  ///
  /// - Parameter rows: a command, its stdin, and the message of `Protos/` that each line is.
  static func expectMessages(_ rows: [([String], String, String)]) async throws {
    for (arguments, input, name) in rows {
      let type = try #require(MessageType.named(name))
      let lines = try await lines(arguments, input)
      for line in lines {
        let wire = try type.wire(ofJSON: Array(line.utf8))
        let again = String(decoding: try type.json(of: wire), as: UTF8.self)
        #expect(again == line, "\(arguments)")
      }
    }
  }

  /// Like ``expectMessages(_:)``, for messages with the name of their file.
  static func expectMessagesOfFiles(_ rows: [([String], String, String)]) async throws {
    for (arguments, input, name) in rows {
      let type = try #require(MessageType.named(name))
      for line in try await lines(arguments, input) {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        var members = try #require(object as? [String: Any])
        #expect(members.removeValue(forKey: "file") is String, "\(arguments)")
        let message = try JSONSerialization.data(withJSONObject: members)
        #expect(throws: Never.self, "\(arguments)") { try type.wire(ofJSON: Array(message)) }
      }
    }
  }

  private static func lines(_ arguments: [String], _ input: String) async throws -> [Substring] {
    let run = try await ProgramRun.of(
      .entitlectl, arguments + ["--output", "jsonl"], input: input)
    let lines = run.output.split(separator: "\n")
    try #require(!lines.isEmpty, "\(arguments): \(run.errors)")
    return lines
  }

  /// Runs commands in turn that print other JSON than messages.
  ///
  /// - Parameters:
  /// - rows: a command, its stdin, and every member name in its output.
  /// - closed: members whose content is not compared.
  static func compare(
    _ rows: [([String], String, [String])], closed: Set<String> = []
  ) async throws {
    for (arguments, input, names) in rows {
      let run = try await ProgramRun.of(
        .entitlectl, arguments + ["--output", "jsonl"], input: input)
      let places = try run.lines(JSONTree.self).reduce(into: Set<String>()) {
        $0.formUnion($1.places(closed: closed))
      }
      #expect(places.sorted() == names.map { ".\($0)" }.sorted(), "\(arguments)")
    }
  }

  /// Every path in a message, such as `.groups[].standing.status`.
  static func places(in type: MessageType) -> Set<String> {
    type.fields.reduce(into: []) { places, field in
      let place = ".\(field.name)"
      places.insert(place)
      guard case .message(let message) = field.kind else { return }
      let inner = field.isRepeated ? "\(place)[]" : place
      places.formUnion(Self.places(in: message).map { inner + $0 })
    }
  }
}
