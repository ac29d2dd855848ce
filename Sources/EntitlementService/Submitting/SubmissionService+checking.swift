package import EntitlementDomain
package import Verification
package import Workers

extension SubmissionService {
  /// Verifies payloads as a submission for one app and environment would, and stores nothing.
  ///
  /// - Parameters:
  ///   - kind: that all must have; nil: found by their fields.
  ///   - deadline: verification that has not begun by then is not done.
  package func check(
    _ payloads: [[UInt8]], as kind: SignedKind? = nil, in scope: AppScope,
    of source: WorkSource = .server, deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(ServiceError) -> [Result<VerifiedPayload, Refusal>] {
    let policy = catalog.snapshot.policy
    let results = try await verifying(payloads.count, isCancelled) {
      isCancelled throws(PoolError) in
      let results = try await pool.run(
        payloads.map { VerificationPool.Item(jws: $0, kind: kind) }, policy: policy,
        now: clock.now(), deadline: deadline, of: source, isCancelled: isCancelled)
      return (results, results.map(\.verdict))
    }
    return results.map { result in
      guard case .success(let payload) = result, !payload.content.belongs(to: scope) else {
        return result
      }
      return .failure(Self.notPermitted)
    }
  }
}

extension VerifiedPayload.Content {
  /// A renewal info names no app, and belongs to each one of its environment.
  fileprivate func belongs(to scope: AppScope) -> Bool {
    switch self {
    case .transaction(let transaction): Fact.transaction(transaction).scope == scope
    case .appTransaction(let transaction): Fact.appTransaction(transaction).scope == scope
    case .renewalInfo(let info): info.environment == scope.environment
    case .notification(let notification): notification.scopes.allSatisfy { $0 == scope }
    }
  }
}
