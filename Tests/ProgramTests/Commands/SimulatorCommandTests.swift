import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("storesim", .timeLimit(.minutes(5)))
struct SimulatorCommandTests {
  private let folder: TemporaryFolder
  private let authority: String

  init() throws {
    folder = try TemporaryFolder()
    authority = folder.file("authority")
  }

  /// - Returns: the fingerprint of the root of signed payloads.
  private func makeAuthority() async throws -> String {
    let run = try await ProgramRun.of(.storesim, ["authority", "--directory", authority])
    #expect(run.exit == .code(0))
    #expect(run.errors == "")
    // The second line is the root of receipts.
    #expect(run.output.wholeMatch(of: /(sha256:[0-9a-f]{64}\n){2}/) != nil)
    return run.output.split(separator: "\n").first.map(String.init) ?? ""
  }

  @Test func `an authority is made once, and only its owner can read its keys`() async throws {
    let fingerprint = try await makeAuthority()
    #expect(fingerprint.wholeMatch(of: /sha256:[0-9a-f]{64}/) != nil)
    #expect(try await makeAuthority() == fingerprint)
    for name in try FileManager.default.contentsOfDirectory(atPath: authority) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(authority)/\(name)")
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  @Test func `its catalog is one that entitled takes`() async throws {
    let catalog = try await ProgramRun.of(.storesim, ["catalog"])
    let path = try folder.write(catalog.output, to: "catalog.yaml")
    let run = try await ProgramRun.of(.entitled, ["--check-config", "--catalog", path])
    #expect(run.exit == .code(0))
    #expect(run.output.contains("The configuration is valid: 1 apps, 6 products, 4 entitlements."))
  }

  @Test func `output that cannot be written is a failure, not a crash`() async throws {
    _ = try await makeAuthority()
    let commands = [
      ["catalog"], ["life-cycles"], ["life-cycles", "--output", "json"],
      ["authority", "--directory", authority],
      ["sign", "--authority", authority, "--life-cycle", "renewals"],
      ["receipt", "--authority", authority, "--life-cycle", "renewals"],
      ["receipt", "--archive", "--life-cycle", "renewals"],
    ]
    for command in commands {
      let full = try await ProgramRun.of(
        .storesim, command, through: "exec \"$@\" >/dev/full")
      #expect(full.exit == .code(1), "\(command)")
      #expect(full.errors.contains("cannot write standard output"), "\(command)")
    }
    // The gate opens when the pipe has no reader any more.
    let gate = folder.file("gate")
    let gone = try await ProgramRun.of(
      .storesim, ["sign", "--authority", authority, "--life-cycle", "renewals"],
      through: """
        mkfifo '\(gate)'
        { cat '\(gate)'; "$@" 2>/dev/null; echo "code $?" >&2; } | { exec <&-; : >'\(gate)'; }
        """)
    #expect(gone.errors == "code 1\n")
  }

  @Test("Its signed payloads verify under its root", arguments: LifeCycle.allCases)
  func sign(lifeCycle: LifeCycle) async throws {
    // Without the keys for receipts, which take long to generate.
    let root = try SigningAuthority.loadOrCreate(inDirectory: authority).rootFingerprint
    let signed = try await ProgramRun.of(
      .storesim,
      [
        "sign", "--authority", authority, "--life-cycle", lifeCycle.rawValue, "--include", "all",
        "--at", "2026-03-01T12:00:00Z",
      ])
    #expect(signed.exit == .code(0))
    let run = try await ProgramRun.of(
      .entitlectl,
      [
        "verify", "-", "--trust-root", "\(root)", "--environment", "sandbox", "--bundle-id",
        "com.example.scribe", "--output", "jsonl",
      ], input: signed.output)
    #expect(run.exit == .code(0))
    let documents = try run.lines(JSONTree.self)
    #expect(documents.count == signed.output.split(separator: "\n").count)
    #expect(documents.contains { $0["kind"]?.text == "PAYLOAD_KIND_TRANSACTION" })
  }

  @Test func `the same seed and moment give the same files`() async throws {
    _ = try await makeAuthority()
    func payloads(_ name: String, seed: String) async throws -> [String: JSONTree] {
      let path = folder.file(name)
      let run = try await ProgramRun.of(
        .storesim,
        [
          "sign", "--authority", authority, "--life-cycle", "grace", "--at", "1772366400000",
          "--seed", seed, "--output", path,
        ])
      #expect(run.exit == .code(0))
      #expect(run.output == "")
      var payloads: [String: JSONTree] = [:]
      for file in try FileManager.default.contentsOfDirectory(atPath: path) {
        let text = try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)
        payloads[file] = try JSONTree(parsing: try CompactJWS(text).contents)
      }
      return payloads
    }
    let first = try await payloads("first", seed: "5")
    #expect(first["001-transaction.jws"]?["environment"]?.text == "Sandbox")
    #expect(try await payloads("second", seed: "5") == first)
    #expect(try await payloads("third", seed: "6") != first)
  }

  @Test func `the life cycles are listed in every form`() async throws {
    let names = LifeCycle.allCases.map(\.rawValue)
    let json = try await ProgramRun.of(.storesim, ["life-cycles", "--output", "json"])
    #expect(try json.document(JSONTree.self).elements.compactMap { $0["name"]?.text } == names)
    let lines = try await ProgramRun.of(.storesim, ["life-cycles", "--output", "jsonl"])
    #expect(try lines.lines(JSONTree.self).compactMap { $0["name"]?.text } == names)
    let table = try await ProgramRun.of(.storesim, ["life-cycles"])
    let rows = table.output.split(separator: "\n")
    #expect(rows.map { String($0.prefix { $0 != " " }) } == names)
  }

  @Test func `without an authority nothing is signed`() async throws {
    let run = try await ProgramRun.of(
      .storesim, ["sign", "--authority", folder.file("none"), "--life-cycle", "grace"])
    #expect(run.exit == .code(1))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("Error: "))
  }
}
