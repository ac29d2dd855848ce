import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("storesim receipt", .timeLimit(.minutes(5)))
struct SimulatorReceiptTests {
  private let folder: TemporaryFolder
  private let authority: String

  init() throws {
    folder = try TemporaryFolder()
    authority = folder.file("authority")
    // The folder as a version without receipts leaves it.
    _ = try SigningAuthority.loadOrCreate(inDirectory: authority)
  }

  private func receipt(_ lifeCycle: LifeCycle, _ more: String...) async throws -> ProgramRun {
    try await ProgramRun.of(
      .storesim,
      [
        "receipt", "--authority", authority, "--life-cycle", lifeCycle.rawValue, "--at",
        "2026-03-01T12:00:00Z",
      ] + more)
  }

  @Test func `the receipt is printed in base64, and written as it is into a file`() async throws {
    let printed = try await receipt(.upgrade)
    #expect(printed.exit == .code(0))
    #expect(printed.output.hasSuffix("\n"))
    let signed = try #require(Data(base64Encoded: String(printed.output.dropLast())))
    let path = folder.file("receipt.der")
    let written = try await receipt(.upgrade, "--output", path)
    #expect(written.exit == .code(0))
    #expect(written.output == "")
    #expect(try Data(contentsOf: URL(filePath: path)) == signed)

    let signer = try ReceiptAuthority.loadOrCreate(inDirectory: authority)
    let expected = Timeline(
      .upgrade, seed: 1, start: 1_770_595_200_000, environment: .sandbox
    ).receipt(at: 1_772_366_400_000)
    #expect(try Data(signer.sign(expected)) == signed)
    let device = expected.deviceIdentifier.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    #expect(
      printed.errors
        == "upgrade, seed 1, from 2026-02-09T00:00:00Z to 2026-03-01T12:00:00Z: 2 purchases, "
        + "device \(device.joined()), root \(signer.rootFingerprint)\n")
  }

  @Test func `an authority of an older version gains the keys for receipts once`() async throws {
    let files = { try FileManager.default.contentsOfDirectory(atPath: authority).count }
    #expect(try files() == 6)
    let first = try await receipt(.upgrade)
    #expect(try files() == 12)
    #expect(try await receipt(.upgrade).output == first.output)
    let roots = try await ProgramRun.of(.storesim, ["authority", "--directory", authority])
    #expect(first.errors.contains(try #require(roots.output.split(separator: "\n").last)))
  }

  @Test func `seed, digest, environment, device and start change it`() async throws {
    let runs = [
      try await receipt(.upgrade), try await receipt(.upgrade, "--seed", "2"),
      try await receipt(.upgrade, "--digest", "sha1"),
      try await receipt(.upgrade, "--environment", "production"),
      try await receipt(
        .upgrade, "--device-identifier", "6f8f4c60-0000-4000-8000-00000000000A"),
      try await receipt(.upgrade, "--start", "2026-01-01T00:00:00Z"),
      try await receipt(.upgrade, "--start", "2026-03-02T00:00:00Z"),
    ]
    #expect(runs.allSatisfy { $0.exit == .code(0) })
    #expect(Set(runs.map(\.output)).count == runs.count)
    #expect(runs[4].errors.contains("device 6f8f4c6000004000800000000000000a,"))
    // Before the start of the life cycle the receipt has no purchases.
    #expect(runs[6].errors.contains(": 0 purchases,"))
  }

  @Test func `an archived response needs no authority, and has the receipt of one`() async throws {
    let arguments = [
      "receipt", "--archive", "--life-cycle", "renewals", "--at", "2026-03-01T12:00:00Z",
    ]
    let alone = try await ProgramRun.of(.storesim, arguments)
    #expect(alone.exit == .code(0))
    let document = try alone.document(JSONTree.self)
    #expect(document["latest_receipt"] == nil)
    #expect(document["receipt"]?["bundle_id"]?.text == "com.example.scribe")
    let signed = try await ProgramRun.of(.storesim, arguments + ["--authority", authority])
    #expect(
      try signed.document(JSONTree.self)["latest_receipt"]?.text.map { $0 + "\n" }
        == (try await receipt(.renewals).output))
    let path = folder.file("response.json")
    let written = try await ProgramRun.of(.storesim, arguments + ["--output", path])
    #expect(written.output == "")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == alone.output)
  }

  @Test func `with --xcode, what Xcode would sign is signed and verifies`() async throws {
    let roots = try await ProgramRun.of(
      .storesim, ["authority", "--directory", authority, "--xcode"])
    #expect(roots.exit == .code(0))
    #expect(roots.output.wholeMatch(of: /(sha256:[0-9a-f]{64}\n){2}/) != nil)
    let fingerprints = roots.output.split(separator: "\n").map(String.init)
    let trust = fingerprints.flatMap { ["--trust-root", $0] } + ["--environment", "Xcode"]

    let run = try await receipt(.upgrade, "--xcode", "--environment", "Xcode")
    #expect(run.exit == .code(0))
    #expect(run.output.hasPrefix("MIA"))
    #expect(run.errors.contains("root \(fingerprints[1])\n"))
    let payloads = try await ProgramRun.of(
      .storesim,
      [
        "sign", "--authority", authority, "--life-cycle", "upgrade", "--at",
        "2026-03-01T12:00:00Z", "--xcode", "--environment", "Xcode",
      ])
    #expect(payloads.exit == .code(0))
    for input in [run.output, payloads.output] {
      let verified = try await ProgramRun.of(
        .entitlectl, ["verify", "-", "--output", "jsonl"] + trust, input: input)
      #expect(verified.exit == .code(0), "\(verified.output)")
      let refused = try await ProgramRun.of(
        .entitlectl, ["verify", "-", "--output", "jsonl"], input: input)
      #expect(refused.exit == .code(2))
    }
    let inspected = try await ProgramRun.of(
      .entitlectl, ["inspect", "-", "--output", "jsonl"], input: payloads.output)
    #expect(inspected.output.contains(/"signedDate": ?[0-9]{13}\.[0-9]{1,4}[,}]/))
    // The roots of the App Store's form stay what they were.
    let others = try await ProgramRun.of(.storesim, ["authority", "--directory", authority])
    #expect(
      Set(others.output.split(separator: "\n").map(String.init)).isDisjoint(with: fingerprints))
  }

  @Test func `without an authority nothing is signed, and no directory is made`() async throws {
    let none = folder.file("none")
    let run = try await ProgramRun.of(
      .storesim, ["receipt", "--authority", none, "--life-cycle", "grace"])
    #expect(run.exit == .code(1))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("Error: "))
    #expect(!FileManager.default.fileExists(atPath: none))
    let place = folder.file("absent/receipt.der")
    let unwritable = try await receipt(.grace, "--output", place)
    #expect(unwritable.exit == .code(1))
    #expect(unwritable.errors.contains("Error: cannot write \(place): there is no such directory"))
  }
}
