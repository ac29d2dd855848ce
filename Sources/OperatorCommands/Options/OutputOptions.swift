import ArgumentParser
import JSONDocuments

/// How data is printed.
struct OutputOptions: ParsableArguments {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case table
    case json
    case jsonl
  }

  @Option(help: "table, json or jsonl (one JSON document a line).")
  var output: Format = .table

  /// Prints documents: as one array, one a line, or as `table` draws them.
  func write<Document: Encodable>(
    _ documents: [Document], table: ([Document]) -> String
  ) throws {
    switch output {
    case .table: try StandardOutput.write(table(documents))
    case .json: try StandardOutput.write(JSONText.indented(documents))
    case .jsonl:
      for document in documents { try StandardOutput.write(JSONText.line(document)) }
    }
  }

  /// Prints one document by itself.
  func write<Document: Encodable>(_ document: Document, table: (Document) -> String) throws {
    switch output {
    case .table: try StandardOutput.write(table(document))
    case .json: try StandardOutput.write(JSONText.indented(document))
    case .jsonl: try StandardOutput.write(JSONText.line(document))
    }
  }
}
