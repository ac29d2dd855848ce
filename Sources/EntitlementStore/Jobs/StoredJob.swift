package import EntitlementDomain

/// The columns of a stored job whose values may be unknown.
package struct StoredJob {
  package let subject: AppStoreJobKey.Subject
  package let state: AppStoreJob.State
  package let reasons: Set<RefetchReason>

  /// - Parameter chain: the id of what the job is about: ``AppStoreJobKey/storedSubject``.
  /// - Throws: ``StoreError/Code/corrupt`` for an unknown kind, state or reason.
  package init(kind: Int, chain: String, state: Int, reasons: Int64) throws(StoreError) {
    switch AppStoreJobKind(rawValue: kind) {
    case .refetch: subject = .refetch(OriginalTransactionID(chain))
    case .reconciliation: subject = .reconciliation
    case .consumption: subject = .consumption(TransactionID(chain))
    case nil: throw StoreError(.corrupt, "a stored job is of an unknown kind")
    }
    guard let state = AppStoreJob.State(rawValue: state) else {
      throw StoreError(.corrupt, "a stored job is in an unknown state")
    }
    self.state = state
    self.reasons = Set(RefetchReason.allCases.filter { reasons & $0.bit != 0 })
    guard self.reasons.bits == reasons else {
      throw StoreError(.corrupt, "a stored job has an unknown reason")
    }
  }
}

extension AppStoreJob {
  /// A bit for each reason.
  package var storedReasons: Int64 { reasons.bits }
}

extension Set<RefetchReason> {
  fileprivate var bits: Int64 { reduce(0) { $0 | $1.bit } }
}

extension RefetchReason {
  /// Raw values are stored, so they keep their bits.
  fileprivate var bit: Int64 { 1 << Int64(rawValue) }
}

extension AppStoreJobQuery {
  package func selects(_ job: AppStoreJob) -> Bool {
    let scope = job.key.scope
    return (bundleID == nil || scope.bundleID == bundleID)
      && (environment == nil || scope.environment == environment)
      && (state == nil || job.state == state) && (kind == nil || job.key.kind == kind)
      && (chain == nil || job.key.chain == chain) && (job.id ?? 0) > after
  }

  /// The page, if there are no other jobs.
  package func page(of jobs: [AppStoreJob]) -> AppStoreJobPage {
    let selected = jobs.filter { selects($0) }.sorted { ($0.id ?? 0) < ($1.id ?? 0) }
    let page = Array(selected.prefix(limit))
    return AppStoreJobPage(jobs: page, next: selected.count > limit ? page.last?.id : nil)
  }
}

extension EntitlementStore {
  /// An answer with the id of its job, which has one only after the commit that opened it for the first
  /// time.
  package func identified(_ answer: AppStoreJobAnswer) async throws(StoreError)
    -> AppStoreJobAnswer
  {
    guard case .done(var job, let isChanged) = answer, job.id == nil else { return answer }
    job.id = try await self.job(.key(job.key))?.id
    return .done(job, isChanged: isChanged)
  }
}
