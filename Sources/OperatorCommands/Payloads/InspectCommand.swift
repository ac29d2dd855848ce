import ArgumentParser
import EntitlementDomain
import Programs
import Verification

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Decodes signed payloads and receipts, without verifying them.",
    discussion: """
      Files contain one JWS a line, with or without quotes, or JSON as the App Store Server API \
      returns it, or a JSON array of JWS, or one legacy receipt, DER or base64, or an archived \
      response of verifyReceipt. Nothing is verified: the \
      verify command checks signatures. Exit code 0 when all can be decoded, 2 when a payload \
      cannot, 1 when a file cannot be read; the remaining inputs are still printed.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @OptionGroup var output: OutputOptions

  /// One payload in JSON, a documented contract.
  private struct Document: Encodable {
    let file: String
    let kind: String?
    let error: String?
    let header: JSONValue?
    let certificates: [CertificateDocument]?
    let payload: JSONValue?
    let digestAlgorithm: String?
    let receipt: ReceiptDocument?
  }

  private struct CertificateDocument: Encodable {
    let subject: String
    let issuer: String
    let validFromMs: String
    let validUntilMs: String
    let fingerprint: String

    init(_ summary: InspectedPayload.CertificateSummary) {
      subject = summary.subject
      issuer = summary.issuer
      validFromMs = "\(summary.validFrom)"
      validUntilMs = "\(summary.validUntil)"
      fingerprint = "\(summary.fingerprint)"
    }
  }

  func run() throws {
    let (findings, isComplete) = PayloadSource.readAll(files)
    let inspected = findings.map { finding in
      (name: finding.name, result: Self.inspect(finding))
    }
    if output.output == .table {
      for entry in inspected {
        try StandardOutput.write(
          TerminalText.escaped(Self.text(entry.name, entry.result), keepsLines: true))
      }
    } else {
      try output.write(documents: inspected.map { Self.document($0.name, $0.result) }) { _ in "" }
    }
    if !isComplete { throw CommandFailure(.failed, nil) }
    if inspected.contains(where: { (try? $0.result.get()) == nil }) {
      throw CommandFailure(.refused, nil)
    }
  }

  private static func inspect(_ finding: SourcedFinding) -> Result<InspectedContent, Refusal> {
    do throws(Refusal) {
      return .success(try InspectedContent(finding.content.get()))
    } catch {
      return .failure(error)
    }
  }

  private static func text(_ name: String, _ result: Result<InspectedContent, Refusal>) -> String {
    switch result {
    case .failure(let error):
      return "\(name)  \(error)"
    case .success(let inspected):
      let hash = inspected.digestAlgorithm.map { ", \($0)" } ?? ""
      var lines = ["\(name)  \(inspected.kind ?? "UNKNOWN")  not verified\(hash)"]
      for certificate in inspected.certificates ?? [] {
        lines.append(
          "  \(certificate.subject), \(certificate.validFrom.display) to "
            + "\(certificate.validUntil.display), \(certificate.fingerprint)")
      }
      lines.append(inspected.text)
      return lines.joined(separator: "\n")
    }
  }

  private static func document(
    _ name: String, _ result: Result<InspectedContent, Refusal>
  ) -> Document {
    switch result {
    case .failure(let error):
      Document(
        file: name, kind: nil, error: "\(error)", header: nil, certificates: nil, payload: nil,
        digestAlgorithm: nil, receipt: nil)
    case .success(let inspected):
      Document(
        file: name, kind: inspected.kind.map { "PAYLOAD_KIND_\($0)" }, error: nil,
        header: inspected.header,
        certificates: inspected.certificates?.map { CertificateDocument($0) },
        payload: inspected.payload, digestAlgorithm: inspected.digestAlgorithm,
        receipt: inspected.receipt)
    }
  }
}
