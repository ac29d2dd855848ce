import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import Verification

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Verifies signed payloads and receipts, without a server.",
    discussion: """
      Files contain one JWS a line, with or without quotes, or JSON as the App Store Server API \
      returns it, or a JSON array of JWS, or one legacy receipt, DER or base64. Certificates are checked at the time of signing. A renewal info \
      names no app: --bundle-id is checked against the transactions of its chain in these files. \
      Without such a transaction the verdict is OK, with a reason that says that the app was not \
      checked. Exit code 0 when all are OK, 2 when one is refused or a file contains none, 1 when \
      a file cannot be read; the remaining files are still verified.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @Option(help: "The device that all receipts must be for: UUID or HEX. Default: any.")
  var deviceIdentifier: DeviceIdentifier?

  @OptionGroup var trust: TrustOptions
  @OptionGroup var output: OutputOptions

  /// The verdict on one payload.
  private struct Finding {
    let file: String
    let verdict: Verdict
    /// Why it was refused, or what was not checked.
    let reason: String?
    /// Nil when the input cannot be decoded.
    let seen: InspectedContent?
  }

  /// A ``Finding`` in JSON, a documented contract. It has a `payload` or a `receipt`, or neither
  /// when the input cannot be decoded.
  private struct Document: Encodable {
    let file: String
    let kind: String?
    let verdict: String
    let detail: String?
    let payload: JSONValue?
    let receipt: ReceiptDocument?

    init(_ finding: Finding) {
      file = finding.file
      kind = finding.seen?.kind.map { "PAYLOAD_KIND_\($0)" }
      verdict = "VERDICT_\(finding.verdict.name)"
      detail = finding.reason
      payload = finding.seen?.payload
      receipt = finding.seen?.receipt
    }
  }

  func run() throws {
    let anchors = try trust.anchors()
    let verifier = SourceVerifier(
      payloads: JWSVerifier(anchors: anchors), receipts: ReceiptVerifier(anchors: anchors),
      deviceIdentifier: deviceIdentifier?.bytes,
      now: Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)))
    let (sourced, isComplete) = PayloadSource.readAll(files)
    let findings = findings(about: sourced, by: verifier)
    if output.output == .table {
      for finding in findings {
        try StandardOutput.write(
          TerminalText.escaped(Self.text(of: finding), keepsLines: true))
      }
    } else {
      try output.write(documents: findings.map { Document($0) }) { _ in "" }
    }
    if !isComplete { throw CommandFailure(.failed, nil) }
    if findings.contains(where: { $0.verdict != .ok }) {
      throw CommandFailure(.refused, nil)
    }
  }

  /// Verifies all inputs first. A renewal info is then checked against the app of its chain, which
  /// a later file may contain.
  private func findings(
    about sourced: [SourcedFinding], by verifier: SourceVerifier
  ) -> [Finding] {
    let outcomes = sourced.map { verifier.verify($0, policy: trust.policy) }
    var apps = ChainApps()
    for (finding, result) in zip(sourced, outcomes) {
      switch result {
      case .success(.payload(let payload)):
        apps.record(payload)
      case .success(.receipt):
        break
      case .failure(let refusal):
        // A payload of another app may still be genuine. Then its chain belongs to that app.
        guard refusal.verdict == .wrongApp else { continue }
        let anyApp = verifier.verify(finding, policy: trust.policyForAnyApp)
        if case .success(.payload(let payload)) = anyApp { apps.record(payload) }
      }
    }
    return zip(sourced, outcomes).map { finding, result in
      let (verdict, reason) = judge(result, apps: apps)
      return Finding(
        file: finding.name, verdict: verdict, reason: reason,
        seen: try? InspectedContent(finding.content.get()))
    }
  }

  private func judge(
    _ result: Result<SourceVerifier.Verified, Refusal>, apps: ChainApps
  ) -> (Verdict, reason: String?) {
    switch result {
    case .failure(let refusal):
      return (refusal.verdict, refusal.detail)
    case .success(.receipt):
      return (.ok, nil)
    case .success(.payload(let payload)):
      guard let expected = trust.expectedBundleID, case .renewalInfo(let info) = payload.content
      else { return (.ok, nil) }
      let known = apps.bundleIDs(for: info)
      if known.contains(expected) { return (.ok, nil) }
      return known.isEmpty
        ? (
          .ok,
          "its app was not checked: a renewal info names no app, and the files have no transaction "
            + "of its chain"
        ) : (.wrongApp, "the transactions of its chain are of another app")
    }
  }

  private static func text(of finding: Finding) -> String {
    let kind = finding.seen?.kind ?? "UNKNOWN"
    let reason = finding.reason.map { ": \($0)" } ?? ""
    let content = finding.seen.map { "\n\($0.text)" } ?? ""
    return "\(finding.file)  \(kind)  \(finding.verdict.name)\(reason)\(content)"
  }
}

extension SignedKind {
  /// The name in `Protos/`, a documented contract.
  var name: String {
    switch self {
    case .transaction: "TRANSACTION"
    case .renewalInfo: "RENEWAL_INFO"
    case .appTransaction: "APP_TRANSACTION"
    case .notification: "NOTIFICATION"
    }
  }
}
