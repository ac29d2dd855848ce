import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let jobs: [MessageSample] = [
    MessageSample("full", ListJobsRequest.full),
    MessageSample("bare", ListJobsRequest()),
    MessageSample(
      "full",
      ListJobsResponse(
        jobs: [.refetch, .reconciliation, .consumption, .bare], nextPageToken: "8")),
    MessageSample("bare", ListJobsResponse(jobs: [], nextPageToken: nil)),
    MessageSample(
      "full", RetryJobRequest(jobID: 7, onBehalfOf: "ada", reason: "the key was renewed")),
    MessageSample("bare", RetryJobRequest(jobID: 1)),
    MessageSample("full", CancelJobRequest(jobID: 7, onBehalfOf: "ada", reason: "émis")),
    MessageSample("bare", CancelJobRequest(jobID: 1)),
    MessageSample("full", ReconcileNotificationsRequest.full),
    MessageSample("bare", ReconcileNotificationsRequest(scope: barest, since: 0)),
    MessageSample("full", JobResponse(job: .refetch, isChanged: true)),
    MessageSample("bare", JobResponse(job: .bare, isChanged: false)),
  ]
}

extension ListJobsRequest {
  static let full = ListJobsRequest(
    bundleID: "com.example.scribe", environment: .sandbox, state: .givenUp, kind: .refetch,
    originalTransactionID: "2000000000000001", jobID: 7, pageSize: 1_000, pageToken: "41")
}

extension ReconcileNotificationsRequest {
  static let full = ReconcileNotificationsRequest(
    scope: MessageSample.scope, since: 1_700_000_000_000, onBehalfOf: "ada", reason: "an outage")
}

extension JobEntry {
  /// An open one that waits after failures.
  static let refetch = JobEntry(
    jobID: 7, kind: .refetch, scope: MessageSample.scope,
    originalTransactionID: "2000000000000001", state: .open,
    reasons: [.successorMissing, .payloadMissing], openedAt: 1_700_000_000_000,
    changedAt: 1_700_000_000_123, dueAt: 1_700_000_060_000, failures: 2,
    lastFailure: "émis: 503", calls: 5, payloads: 12, added: 3, refused: 1)

  /// One that a server is doing.
  static let reconciliation = JobEntry(
    jobID: 8, kind: .reconciliation, scope: MessageSample.scope, state: .open,
    openedAt: 1_700_000_000_000, changedAt: 1_700_000_000_000, isRunning: true, failures: 0,
    since: 0, completeUntil: 1_699_999_999_999, calls: 0, payloads: 0, added: 0, refused: 0)

  /// One that tells the App Store about consumption.
  static let consumption = JobEntry(
    jobID: 9, kind: .consumption, scope: MessageSample.scope, state: .done,
    openedAt: 1_700_000_000_000, changedAt: 1_700_000_000_000, failures: 0, calls: 1, payloads: 0,
    added: 0, refused: 0, transactionID: "2000000000000002")

  /// Of a server that knows kinds and states that this program does not.
  static let bare = JobEntry(
    jobID: 1, scope: MessageSample.barest, openedAt: 0, changedAt: 0, failures: 0, calls: 0,
    payloads: 0, added: 0, refused: 0)
}
