import ArgumentParser
import EntitlementDomain
import Foundation
import Verification

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Verifies signed payloads, without a server.",
    discussion: """
      Files hold one JWS a line, or JSON as the App Store Server API returns it. Certificates are \
      judged at the moment of signing. Exit code 0 when all are OK, 2 when one is refused.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @OptionGroup var trust: TrustOptions
  @OptionGroup var output: OutputOptions

  /// What was found about one payload.
  private struct Finding {
    let file: String
    let verdict: Verdict
    let reason: String?
    /// Nil when it cannot be read.
    let inspected: InspectedPayload?
  }

  /// A finding in JSON: a contract. `payload` is left out when it cannot be read.
  private struct Document: Encodable {
    let file: String
    let kind: String?
    let verdict: String
    let reason: String?
    let payload: JSONValue?

    init(_ finding: Finding) {
      file = finding.file
      kind = finding.inspected?.kind?.name
      verdict = finding.verdict.name
      reason = finding.reason
      payload = finding.inspected.flatMap { try? JSONValue($0.payload) }
    }
  }

  func run() throws {
    let verifier = JWSVerifier(anchors: try trust.anchors())
    let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000))
    let findings = try files.flatMap { try PayloadSource.payloads(in: $0) }.map { payload in
      finding(of: payload, by: verifier, now: now)
    }
    if output.output == .table {
      for finding in findings { StandardOutput.write(Self.text(of: finding)) }
    } else {
      try output.write(findings.map { Document($0) }) { _ in "" }
    }
    if findings.contains(where: { $0.verdict != .ok }) {
      throw ExitCode(CommandFailure.Reason.refused.rawValue)
    }
  }

  private func finding(
    of payload: SourcedPayload, by verifier: JWSVerifier, now: Milliseconds
  ) -> Finding {
    var verdict = Verdict.ok
    var reason: String?
    do {
      _ = try verifier.verify(payload.jws, policy: trust.policy, now: now)
    } catch {
      verdict = error.verdict
      reason = error.detail
    }
    return Finding(
      file: payload.name, verdict: verdict, reason: reason,
      inspected: try? verifier.inspect(payload.jws))
  }

  private static func text(of finding: Finding) -> String {
    let kind = finding.inspected?.kind?.name ?? "UNKNOWN"
    let reason = finding.reason.map { ": \($0)" } ?? ""
    let payload = finding.inspected.map { "\n\($0.payload.indented())" } ?? ""
    return "\(finding.file)  \(kind)  \(finding.verdict.name)\(reason)\(payload)"
  }
}

extension SignedKind {
  /// As it is named in `Protos/`: a contract.
  var name: String {
    switch self {
    case .transaction: "TRANSACTION"
    case .renewalInfo: "RENEWAL_INFO"
    case .appTransaction: "APP_TRANSACTION"
    case .notification: "NOTIFICATION"
    }
  }
}
