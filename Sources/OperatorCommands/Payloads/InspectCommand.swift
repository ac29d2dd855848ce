import ArgumentParser
import EntitlementDomain
import Verification

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Shows what signed payloads hold, without trusting them.",
    discussion: """
      Nothing is verified: use verify to know whether Apple signed it. Exit code 0 when all can \
      be read, 2 when a payload cannot, 1 when a file cannot; the others are shown all the same.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @OptionGroup var output: OutputOptions

  /// One payload in JSON: a contract.
  private struct Document: Encodable {
    let file: String
    let kind: String?
    let error: String?
    let header: JSONValue?
    let certificates: [CertificateDocument]?
    let payload: JSONValue?
  }

  private struct CertificateDocument: Encodable {
    let subject: String
    let issuer: String
    let validFromMs: Int64
    let validUntilMs: Int64
    let fingerprint: String

    init(_ summary: InspectedPayload.CertificateSummary) {
      subject = summary.subject
      issuer = summary.issuer
      validFromMs = summary.validFrom.rawValue
      validUntilMs = summary.validUntil.rawValue
      fingerprint = "\(summary.fingerprint)"
    }
  }

  func run() throws {
    let (findings, isComplete) = PayloadSource.survey(files)
    let inspected = findings.map { finding in
      (name: finding.name, result: Self.inspect(finding))
    }
    if output.output == .table {
      for entry in inspected {
        try StandardOutput.write(
          TerminalText.visible(Self.text(entry.name, entry.result), keepsLines: true))
      }
    } else {
      try output.write(inspected.map { Self.document($0.name, $0.result) }) { _ in "" }
    }
    if !isComplete { throw CommandFailure(.failed, nil) }
    if inspected.contains(where: { (try? $0.result.get()) == nil }) {
      throw ExitCode(CommandFailure.Reason.refused.rawValue)
    }
  }

  private static func inspect(
    _ finding: SourcedFinding
  ) -> Result<InspectedPayload, Refusal> {
    do throws(Refusal) {
      return .success(try InspectedPayload(finding.payload().jws))
    } catch {
      return .failure(error)
    }
  }

  private static func text(_ name: String, _ result: Result<InspectedPayload, Refusal>) -> String {
    switch result {
    case .failure(let error):
      return "\(name)  \(error)"
    case .success(let inspected):
      var lines = ["\(name)  \(inspected.kind?.name ?? "UNKNOWN")  not verified"]
      for certificate in inspected.certificates {
        lines.append(
          "  \(certificate.subject), \(certificate.validFrom.display) to "
            + "\(certificate.validUntil.display), \(certificate.fingerprint)")
      }
      lines.append(inspected.payload.indented())
      return lines.joined(separator: "\n")
    }
  }

  private static func document(
    _ name: String, _ result: Result<InspectedPayload, Refusal>
  ) -> Document {
    switch result {
    case .failure(let error):
      Document(
        file: name, kind: nil, error: "\(error)", header: nil, certificates: nil, payload: nil)
    case .success(let inspected):
      Document(
        file: name, kind: inspected.kind?.name, error: nil,
        header: try? JSONValue(inspected.header),
        certificates: inspected.certificates.map { CertificateDocument($0) },
        payload: try? JSONValue(inspected.payload))
    }
  }
}
