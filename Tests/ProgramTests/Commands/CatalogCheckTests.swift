import Foundation
import TestSupport
import Testing

@Suite("entitlectl catalog check", .timeLimit(.minutes(5)))
struct CatalogCheckTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let valid = """
    version: 1
    apps:
      - bundle_id: com.example.scribe
        app_apple_id: 1234567890
        link_policy: keep
    entitlements: [{id: pro}, {id: basic}]
    products:
      - {id: com.example.scribe.pro, type: non_consumable, entitlements: [pro]}
    grandfathering:
      - id: paid-era
        bundle_id: com.example.scribe
        entitlements: [basic]
        original_version_before: {iOS: "108"}
        original_purchase_date_before: 2024-03-01T00:00:00Z
    """

  /// Valid, with two warnings.
  private static let doubtful = valid.replacing("\"108\"", with: "\"2.0\"")
    .replacing("type: non_consumable", with: "type: non_renewing")

  private func check(_ arguments: String..., input: String = "") async throws -> ProgramRun {
    try await ProgramRun.of(.entitlectl, ["catalog", "check"] + arguments, input: input)
  }

  @Test func `a valid file is counted`() async throws {
    let path = try folder.write(Self.valid, to: "catalog.yaml")
    let run = try await check(path)
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    #expect(
      run.output == """
        \(path): valid; 1 app, 1 product, 2 entitlements, 1 grandfathering rule; 0 errors, 0 warnings

        """)
  }

  @Test func `warnings are told, and are no failure`() async throws {
    let run = try await check("-", input: Self.doubtful)
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    #expect(
      run.output == """
        stdin:8:5: warning: products[0].duration: missing; without it a purchase of this product \
        confers nothing (R12)
        stdin:13:36: warning: grandfathering[0].original_version_before.iOS: this looks like a \
        marketing version; on iOS the App Store reports the build number, such as 108 (R33, R40)
        stdin: valid; 1 app, 1 product, 2 entitlements, 1 grandfathering rule; 0 errors, 2 warnings

        """)
  }

  @Test func `every error is told at once, and the exit code is 2`() async throws {
    let text = Self.doubtful.replacing("link_policy: keep", with: "link_policy: never")
      .replacing("{id: basic}", with: "{id: pro}").replacing("version: 1", with: "version: 3")
    let path = try folder.write(text, to: "catalog.yaml")
    let run = try await check(path)
    #expect(run.exit == .code(2))
    #expect(run.errors == "")
    #expect(
      run.output == """
        \(path):1:10: error: version: only version 1 is supported
        \(path):5:18: error: apps[0].link_policy: unknown policy; allowed: transfer, \
        transfer_if_inactive, keep
        \(path):6:32: error: entitlements[1].id: named twice
        \(path):8:5: warning: products[0].duration: missing; without it a purchase of this product \
        confers nothing (R12)
        \(path):12:20: error: grandfathering[0].entitlements[0]: no entitlement has the id basic; \
        declare it under entitlements
        \(path):13:36: warning: grandfathering[0].original_version_before.iOS: this looks like a \
        marketing version; on iOS the App Store reports the build number, such as 108 (R33, R40)
        \(path): not valid; 4 errors, 2 warnings

        """)
  }

  @Test func `the JSON forms say the same`() async throws {
    let good = try folder.write(Self.valid, to: "good.yaml")
    let bad = try folder.write("version: 1\napps: []\n", to: "bad.yaml")
    let lines = try await check(good, bad, "--output", "jsonl")
    #expect(lines.exit == .code(2))
    let documents = try lines.lines(JSONTree.self)
    #expect(documents.count == 2)
    #expect(documents[0]["file"]?.text == good)
    #expect(documents[0]["valid"] == .boolean(true))
    #expect(documents[0]["apps"]?.integer == 1)
    #expect(documents[0]["products"]?.integer == 1)
    #expect(documents[0]["entitlements"]?.integer == 2)
    #expect(documents[0]["grandfatheringRules"]?.integer == 1)
    #expect(documents[0]["issues"]?.elements == [])
    #expect(documents[1]["valid"] == .boolean(false))
    #expect(documents[1]["apps"] == nil)
    let issue = try #require(documents[1]["issues"]?.elements.first)
    #expect(issue["error"] == .boolean(true))
    #expect(issue["line"]?.integer == 2)
    #expect(issue["column"]?.integer == 7)
    #expect(issue["field"]?.text == "apps")
    #expect(issue["message"]?.text == "at least one is needed")
    let array = try await check(good, bad, "--output", "json")
    #expect(try array.document(JSONTree.self).elements == documents)
  }

  @Test func `a file that cannot be read hides nothing of the others`() async throws {
    let good = try folder.write(Self.valid, to: "good.yaml")
    let missing = folder.file("missing.yaml")
    let run = try await check(missing, good, folder.path)
    #expect(run.exit == .code(1))
    #expect(run.output.hasPrefix("\(good): valid; "))
    #expect(
      run.errors == """
        entitlectl: \(missing): cannot be read
        entitlectl: \(folder.path): cannot be read

        """)
  }

  @Test func `what is not UTF-8, or no YAML, is not valid`() async throws {
    let path = folder.file("latin.yaml")
    try Data([0x61, 0x3a, 0x20, 0xe9]).write(to: URL(filePath: path))
    let latin = try await check(path)
    #expect(latin.exit == .code(2))
    #expect(latin.output.hasPrefix("\(path):1:1: error: not UTF-8\n"))
    let bomb = try await check("-", input: "a: &a [x]\nb: &b [*a, *a]\n")
    #expect(bomb.exit == .code(2))
    #expect(
      bomb.output == """
        stdin:2:8: error: not YAML: aliases are not supported
        stdin: not valid; 1 error, 0 warnings

        """)
  }

  @Test func `what steers a terminal is shown, not done`() async throws {
    let run = try await check("-", input: "version: 1\n\"\\e[2J\\u202e\": x\n")
    #expect(run.exit == .code(2))
    #expect(!run.output.unicodeScalars.contains("\u{1b}"))
    #expect(run.output.contains("\\u{1b}[2J\\u{202e}: unknown field"))
  }

  @Test func `the example is valid, without a warning`() async throws {
    let root = URL(filePath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let example = root.appending(path: "deploy/catalog.example.yaml").path(percentEncoded: false)
    let run = try await check(example, "--output", "jsonl")
    #expect(run.exit == .code(0))
    let document = try #require(try run.lines(JSONTree.self).first)
    #expect(document["issues"]?.elements == [])
    #expect(document["grandfatheringRules"]?.integer == 1)
  }

  @Test func `without a file there is nothing to check`() async throws {
    let run = try await check()
    #expect(run.exit == .code(64))
    #expect(run.output == "")
  }
}
