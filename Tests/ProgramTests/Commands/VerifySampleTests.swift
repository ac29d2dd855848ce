import Foundation
import TestSupport
import Testing

// Skipped when the folder of samples is absent; APPLE_SIGNED_SAMPLES sets another one.
@Suite(
  "entitlectl verify, real payloads of the App Store", .timeLimit(.minutes(5)),
  .enabled(if: AppleSamples.arePresent, "the folder of Apple-signed samples is absent"))
struct VerifySampleTests {
  private func verify(_ arguments: String...) async throws -> ProgramRun {
    try await ProgramRun.of(.entitlectl, ["verify"] + arguments)
  }

  private func payload(of entry: AppleSamples.Entry) throws -> JSONTree {
    let text = try String(contentsOfFile: entry.path, encoding: .utf8)
    return try JSONTree(parsing: try CompactJWS(text).contents)
  }

  @Test func `the manifest lists seventeen of them`() {
    #expect(AppleSamples.signed.count == 17)
  }

  @Test(arguments: AppleSamples.signed)
  func `for its app and environment each gets the verdict that the manifest expects`(
    entry: AppleSamples.Entry
  ) async throws {
    let expected = try #require(entry.verdictName)
    let app = try #require(entry.verifiedAs)
    let run = try await verify(
      entry.path, "--environment", app.environment, "--bundle-id", app.bundleId, "--output",
      "jsonl")
    #expect(run.exit == .code(expected == "OK" ? 0 : 2))
    #expect(run.errors == "")
    let document = try #require(try run.lines(JSONTree.self).first)
    #expect(document["file"]?.text == entry.path)
    #expect(document["kind"]?.text == "PAYLOAD_KIND_\(entry.kindName)")
    #expect(document["verdict"]?.text == "VERDICT_\(expected)")
    // The app of a single renewal info cannot be checked.
    let isUnchecked = entry.kindName == "RENEWAL_INFO"
    #expect((document["detail"] == nil) == (expected == "OK" && !isUnchecked))
    #expect(document["payload"] == (try payload(of: entry)))
  }

  @Test func `for any app and environment the verdicts are the same, in the order given`()
    async throws
  {
    let run = try await ProgramRun.of(
      .entitlectl, ["verify", "--output", "json"] + AppleSamples.signed.map(\.path))
    #expect(run.exit == .code(2))
    let documents = try run.document(JSONTree.self).elements
    #expect(documents.map { $0["file"]?.text } == AppleSamples.signed.map(\.path))
    for (document, entry) in zip(documents, AppleSamples.signed) {
      #expect(document["verdict"]?.text == entry.verdictName.map { "VERDICT_\($0)" })
    }
    let expected = AppleSamples.signed.filter { $0.verdictName == "OK" }
    let good = try await ProgramRun.of(.entitlectl, ["verify"] + expected.map(\.path))
    #expect(good.exit == .code(0))
  }

  @Test func `the table names file, kind and verdict, and shows the payload in JSON`()
    async throws
  {
    let entry = try #require(AppleSamples.signed.first { $0.verdictName == "OK" })
    let run = try await verify(entry.path)
    let lines = run.output.split(separator: "\n", maxSplits: 1)
    #expect(lines[0] == "\(entry.path)  \(entry.kindName)  OK")
    #expect(try JSONTree(parsing: lines[1].utf8) == (try payload(of: entry)))
  }

  @Test(arguments: AppleSamples.signed)
  func `inspect shows kind, certificates and payload without a verdict`(
    entry: AppleSamples.Entry
  ) async throws {
    let run = try await ProgramRun.of(
      .entitlectl, ["inspect", entry.path, "--output", "jsonl"])
    #expect(run.exit == .code(0))
    let document = try #require(try run.lines(JSONTree.self).first)
    #expect(document["verdict"] == nil)
    #expect(document["kind"]?.text == "PAYLOAD_KIND_\(entry.kindName)")
    #expect(document["payload"] == (try payload(of: entry)))
    #expect(document["header"]?["alg"]?.text == "ES256")
    #expect(
      document["certificates"]?.elements.last?["fingerprint"]?.text
        == "sha256:63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
  }

  @Test func `altered by one character, none is good`() async throws {
    let folder = try TemporaryFolder()
    var paths: [String] = []
    for (number, entry) in AppleSamples.signed.enumerated() {
      var jws = try CompactJWS(String(contentsOfFile: entry.path, encoding: .utf8))
      jws.signature = (jws.signature.hasPrefix("A") ? "B" : "A") + jws.signature.dropFirst()
      paths.append(try folder.write(jws.text, to: "\(number).jws"))
    }
    let run = try await ProgramRun.of(.entitlectl, ["verify", "--output", "jsonl"] + paths)
    #expect(run.exit == .code(2))
    let verdicts = try run.lines(JSONTree.self).map { $0["verdict"]?.text }
    #expect(verdicts.count == 17)
    #expect(
      verdicts.allSatisfy {
        $0 == "VERDICT_INVALID_SIGNATURE" || $0 == "VERDICT_CERTIFICATE_EXPIRED"
      })
    #expect(verdicts.count { $0 == "VERDICT_CERTIFICATE_EXPIRED" } == 1)
  }

  @Test(arguments: AppleSamples.receipts)
  func `each receipt is OK for its app, with the fields of the manifest`(
    sample: AppleSamples.Receipt
  ) async throws {
    let run = try await verify(
      sample.path, "--bundle-id", sample.fields.bundleId, "--output", "jsonl")
    #expect(run.exit == .code(0))
    let document = try #require(try run.lines(JSONTree.self).first)
    #expect(document["kind"]?.text == "PAYLOAD_KIND_RECEIPT")
    #expect(document["verdict"]?.text == "VERDICT_OK")
    let receipt = try #require(document["receipt"])
    #expect(receipt["bundleId"]?.text == sample.fields.bundleId)
    #expect(receipt["receiptType"]?.text == sample.fields.receiptType)
    #expect(receipt["applicationVersion"]?.text == sample.fields.applicationVersion)
    #expect(
      receipt["originalApplicationVersion"]?.text == sample.fields.originalApplicationVersion)
    #expect(receipt["inApp"]?.elements.count == sample.purchases ?? 0)
    let shown = try await ProgramRun.of(
      .entitlectl, ["inspect", sample.path, "--output", "jsonl"])
    #expect(try shown.lines(JSONTree.self).first?["receipt"] == receipt)
  }
}
