/// What the status of its certificates means for a payload.
struct StatusDecision {
  /// Nil when the payload passes.
  let refusal: Refusal?
  /// Whether there was no usable answer, so that the policy alone decided.
  let isUndecided: Bool

  /// - Parameter outcomes: of all `questions`.
  init(
    _ questions: [StatusQuestion], outcomes: [StatusQuestion.Key: StatusOutcome],
    policy: StatusPolicy
  ) {
    var reason: String?
    for question in questions {
      switch outcomes[question.key] {
      case .good:
        break
      case .revoked(let cause):
        let detail = "the \(question.name) certificate was revoked"
        refusal = Refusal(.certificateRevoked, cause.map { "\(detail): \($0)" } ?? detail)
        isUndecided = false
        return
      case .undecided(let why):
        reason = reason ?? "the status of the \(question.name) certificate is not known: \(why)"
      case nil:
        // Every question has an outcome; without one nothing was decided.
        reason = reason ?? "the status of the \(question.name) certificate is not known"
      }
    }
    isUndecided = reason != nil
    // Never as invalid: what is in doubt is the responder or the setting, and a payload that is
    // refused for good would be lost.
    refusal = policy == .strict ? reason.map { Refusal(.retryable, $0) } : nil
  }
}
