import Foundation

/// Python's `opentelemetry-proto`, which deploy/test gets: a reader of OTLP that is not ours.
package enum OpenTelemetryProto {
  private static let folder = PrometheusTools.path(".build/python-tools")

  package static var isInstalled: Bool {
    let installed = try? String(contentsOfFile: "\(folder)/installed.txt", encoding: .utf8)
    return installed?.contains("opentelemetry-proto==") == true
  }

  /// What a test says that is skipped without it.
  package static let absence =
    "opentelemetry-proto (PyPI) is not installed: exported spans are not read by it"

  /// A span as `Tests/TraceOracle/parse.py` prints it.
  package struct Span: Decodable, Sendable {
    package let resource: [String: String]
    package let trace: String
    package let span: String
    package let parent: String
    package let state: String
    package let flags: Int
    package let name: String
    package let kind: Int
    package let start: UInt64
    package let end: UInt64
    package let attributes: [String: String]
    package let dropped: Int
    package let events: [String]
    package let status: Int
  }

  /// - Throws: the parser's message for a document that is not valid.
  package static func spans(in document: [UInt8]) throws -> [Span] {
    let outcome = try PrometheusTools.run(
      "\(folder)/bin/python3", [PrometheusTools.path("Tests/TraceOracle/parse.py")], input: document
    )
    guard outcome.status == 0 else { throw NeverHappened(outcome.errors) }
    return try outcome.output.split(separator: "\n").map {
      try JSONDecoder().decode(Span.self, from: Data($0.utf8))
    }
  }
}
