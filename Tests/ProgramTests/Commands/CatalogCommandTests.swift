import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl catalog status and reload", .timeLimit(.minutes(5)))
struct CatalogCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func catalog(
    _ server: RunningServer, _ arguments: String..., output: String = "json"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      ["catalog"] + arguments + ["--server", "\(server.address)", "--output", output])
  }

  /// The simulator's catalog without one product.
  private static let smaller = SimulatedApp.catalogYAML.replacing(
    "  - id: com.example.scribe.tokens\n    type: consumable\n", with: "")
  private static let broken = SimulatedApp.catalogYAML
    .replacing("duration: P3M", with: "duration: soon")
    .replacing("level: 2", with: "level: high")

  @Test func `the status says what is in force`() async throws {
    let server = try await bench.startServer()
    let run = try await catalog(server, "status")
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let status = try run.document(JSONTree.self)
    let digest = try #require(status["digest"]?.text)
    #expect(digest.wholeMatch(of: /[0-9a-f]{64}/) != nil)
    let counts = ["apps", "products", "entitlements", "grandfatheringRules"]
    #expect(counts.map { status[$0]?.integer } == [1, 6, 4, nil])
    #expect(status["warnings"] == nil)
    #expect(status["lastAttempt"] == nil)

    let table = try await catalog(server, "status", output: "table")
    let rows = table.output.split(separator: "\n").map(String.init)
    #expect(rows.first == "digest          \(digest)")
    #expect(
      rows.suffix(4) == [
        "apps            1", "products        6", "entitlements    4", "grandfathering  0",
      ])
  }

  @Test func `a valid file is in force when the command ends`() async throws {
    let server = try await bench.startServer()
    let before = try await catalog(server, "status").document(JSONTree.self)
    _ = try bench.folder.write(Self.smaller, to: "catalog.yaml")
    // The server may have reloaded the file by itself; the answer is the same.
    let run = try await catalog(server, "reload")
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    let after = try run.document(JSONTree.self)
    #expect(after["products"]?.integer == 5)
    #expect(after["digest"] != before["digest"])
    #expect(after["lastAttempt"]?["valid"] == .boolean(true))
    #expect(after["lastAttempt"]?["digest"] == after["digest"])
    let status = try await catalog(server, "status").document(JSONTree.self)
    #expect(status["digest"] == after["digest"])
  }

  @Test func `a dry run says what would be`() async throws {
    let server = try await bench.startServer()
    let before = try await catalog(server, "status").document(JSONTree.self)
    _ = try bench.folder.write(Self.broken, to: "catalog.yaml")
    let refused = try await catalog(server, "reload", "--dry-run")
    #expect(refused.exit == .code(2))
    let document = try refused.document(JSONTree.self)
    #expect(document["digest"] == before["digest"])
    #expect(document["lastAttempt"]?["valid"] == nil)
    _ = try bench.folder.write(Self.smaller, to: "catalog.yaml")
    let valid = try await catalog(server, "reload", "--dry-run")
    #expect(valid.exit == .code(0))
    let attempt = try valid.document(JSONTree.self)["lastAttempt"]
    #expect(attempt?["valid"] == .boolean(true))
    #expect(attempt?["issues"] == nil)
    #expect(attempt?["digest"] != before["digest"])
  }

  @Test func `a file that is not valid is refused, with every issue`() async throws {
    let server = try await bench.startServer()
    let before = try await catalog(server, "status").document(JSONTree.self)
    _ = try bench.folder.write(Self.broken, to: "catalog.yaml")
    let json = try await catalog(server, "reload")
    #expect(json.exit == .code(2))
    #expect(json.errors == "entitlectl: the file is not valid; the old catalog stays in force\n")
    let document = try json.document(JSONTree.self)
    #expect(document["digest"] == before["digest"])
    #expect(document["products"]?.integer == 6)
    let attempt = try #require(document["lastAttempt"])
    #expect(attempt["valid"] == nil)
    let issues = try #require(attempt["issues"]?.elements)
    #expect(issues.map { $0["field"]?.text } == ["products[0].level", "products[3].duration"])
    #expect(issues.allSatisfy { $0["error"] == .boolean(true) })
    let lines = Self.broken.split(separator: "\n", omittingEmptySubsequences: false)
    let numbers = ["level: high", "duration: soon"].map { text in
      lines.firstIndex { $0.contains(text) }.map { Int64($0 + 1) }
    }
    #expect(issues.map { $0["line"]?.integer } == numbers)

    let table = try await catalog(server, "reload", output: "table")
    #expect(table.exit == .code(2))
    let rows = table.output.split(separator: "\n")
    #expect(rows.contains { $0.hasPrefix("last attempt    ") && $0.hasSuffix(", not valid") })
    for (issue, number) in zip(issues, numbers) {
      let place = "line \(number ?? 0), \(issue["field"]?.text ?? ""): error: "
      #expect(rows.contains { $0.hasPrefix(place) })
    }
  }

  @Test func `a file that is gone fails, and changes nothing`() async throws {
    let server = try await bench.startServer()
    let before = try await catalog(server, "status").document(JSONTree.self)
    try FileManager.default.removeItem(atPath: bench.catalogPath)
    let run = try await catalog(server, "reload")
    #expect(run.exit == .code(1))
    #expect(run.errors == "entitlectl: the file cannot be read; the old catalog stays in force\n")
    let document = try run.document(JSONTree.self)
    #expect(document["digest"] == before["digest"])
    #expect(document["lastAttempt"]?["failure"]?.text?.isEmpty == false)
    #expect(document["lastAttempt"]?["digest"] == nil)
    let table = try await catalog(server, "status", output: "table")
    #expect(table.exit == .code(0))
    #expect(table.output.contains(", not read: "))
  }
}
