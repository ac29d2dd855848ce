/// How the certificate status (OCSP, RFC 6960) is used.
package enum StatusPolicy: String, CaseIterable, Sendable {
  /// The status is not checked.
  case off
  /// A revoked certificate is refused. If the status is unknown, the payload is accepted.
  case soft
  /// A revoked certificate is refused. If the status is unknown, the verdict is
  /// ``Verdict/retryable``.
  case strict
}

/// The result of the status check of one payload.
struct StatusDecision {
  /// Nil when the payload passes.
  let refusal: Refusal?
  /// Whether a status was unknown, so that the policy decided.
  let isUndecided: Bool

  /// - Parameter outcomes: the outcomes of all `queries`.
  init(
    _ queries: [StatusQuery], outcomes: [StatusQuery.Key: StatusOutcome],
    policy: StatusPolicy
  ) {
    var reason: String?
    for query in queries {
      switch outcomes[query.key] {
      case .good:
        break
      case .revoked(let cause):
        let detail = "the \(query.name) certificate was revoked"
        refusal = Refusal(.certificateRevoked, cause.map { "\(detail): \($0)" } ?? detail)
        isUndecided = false
        return
      case .undecided(let why):
        reason = reason ?? "the status of the \(query.name) certificate is not known: \(why)"
      case nil:
        // Every query has an outcome. A missing one counts as unknown.
        reason = reason ?? "the status of the \(query.name) certificate is not known"
      }
    }
    isUndecided = reason != nil
    // Never a permanent refusal: the responder or the configuration is at fault, and a payload that
    // is refused permanently would be lost.
    refusal = policy == .strict ? reason.map { Refusal(.retryable, $0) } : nil
  }
}
