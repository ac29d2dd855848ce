import CEntitleMessages
package import EntitlementDomain

/// Request of `ListJobs`: the jobs of the App Store Server API, in the order of their ids.
package struct ListJobsRequest: Hashable, Sendable {
  /// Only this app; nil: all.
  package var bundleID: BundleID?
  /// Only this environment; nil: all.
  package var environment: StoreEnvironment?
  /// Only this state; nil: all.
  package var state: JobState?
  /// Only this kind; nil: all.
  package var kind: JobKind?
  /// Only the job of this chain; nil: all.
  package var originalTransactionID: OriginalTransactionID?
  /// Only the job with this id; nil: all.
  package var jobID: Int64?
  /// Maximum number of jobs in the page; 0: the default.
  package var pageSize: Int
  /// The token of the previous page; nil for the first page.
  package var pageToken: String?

  package init(
    bundleID: BundleID? = nil, environment: StoreEnvironment? = nil, state: JobState? = nil,
    kind: JobKind? = nil, originalTransactionID: OriginalTransactionID? = nil,
    jobID: Int64? = nil, pageSize: Int = 0, pageToken: String? = nil
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.state = state
    self.kind = kind
    self.originalTransactionID = originalTransactionID
    self.jobID = jobID
    self.pageSize = pageSize
    self.pageToken = pageToken
  }
}

extension ListJobsRequest {
  private static let pageTokenLength = 1_024

  init(reading message: Entitle__V1__ListJobsRequest) throws(MessageError) {
    bundleID = try Self.bounded(
      message.bundle_id, "bundle_id", limit: MessageLimits.identifierLength)
    environment = try Self.anyEnvironment(message.environment)
    // A value that is not known is refused: without the filter, the answer would have other jobs.
    if message.state != ENTITLE__V1__JOB_STATE__JOB_STATE_UNSPECIFIED {
      state = try Self.required(message.state, as: JobState.self, "state")
    }
    if message.kind != ENTITLE__V1__JOB_KIND__JOB_KIND_UNSPECIFIED {
      kind = try Self.required(message.kind, as: JobKind.self, "kind")
    }
    originalTransactionID = try Self.bounded(
      message.original_transaction_id, "original_transaction_id",
      limit: MessageLimits.identifierLength)
    jobID = message.job_id == 0 ? nil : message.job_id
    pageSize = try Self.pageSize(message.page_size, "page_size")
    pageToken = try Self.bounded(
      message.page_token, "page_token", limit: Self.pageTokenLength)
  }

  func write(
    to message: inout Entitle__V1__ListJobsRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(bundleID, "bundle_id", in: arena)
    if let environment { message.environment = environment.number }
    if let state { message.state = state.number }
    if let kind { message.kind = kind.number }
    message.original_transaction_id = try Self.text(
      originalTransactionID, "original_transaction_id", in: arena)
    message.job_id = jobID ?? 0
    message.page_size = Int32(clamping: pageSize)
    message.page_token = try Self.text(pageToken, "page_token", in: arena)
  }
}
