package import Wire

// Jobs of the App Store Server API, for operators.
extension EntitlementClient {
  /// Reads one page of the jobs. ``jobs(_:)`` reads all pages.
  package func listJobs(
    _ request: ListJobsRequest
  ) async throws(RPCClientError) -> ListJobsResponse {
    try await call(WireMethods.listJobs, request)
  }

  /// All jobs that a request selects, in the order of their ids. Each page is requested when the
  /// iteration reaches it.
  package func jobs(_ request: ListJobsRequest) -> PageSequence<JobEntry> {
    PageSequence { token async throws(RPCClientError) in
      var request = request
      request.pageToken = token
      let response = try await listJobs(request)
      return (response.jobs, response.nextPageToken)
    }
  }

  /// Reads one job; nil when there is none with this id that the caller may see.
  package func job(_ id: Int64) async throws(RPCClientError) -> JobEntry? {
    try await listJobs(ListJobsRequest(jobID: id)).jobs.first
  }

  /// Opens a job that has ended, or ends the wait of an open one. Repeating the call is harmless.
  ///
  /// - Throws: ``RPCClientError``; `notFound` for an unknown job, `failedPrecondition` when the
  ///   server has no key of the App Store Server API for its app.
  package func retryJob(
    _ request: RetryJobRequest
  ) async throws(RPCClientError) -> JobResponse {
    try await call(WireMethods.retryJob, request)
  }

  /// Ends an open job. Repeating the call changes nothing.
  ///
  /// - Throws: ``RPCClientError``; `notFound` for an unknown job.
  package func cancelJob(
    _ request: CancelJobRequest
  ) async throws(RPCClientError) -> JobResponse {
    try await call(WireMethods.cancelJob, request)
  }

  /// Asks the App Store for the notifications of an app since a moment. The answer has the job, which
  /// goes on in the server; ``job(_:)`` tells its progress.
  ///
  /// - Throws: ``RPCClientError``; `failedPrecondition` when the server has no key of the App Store
  ///   Server API for the app.
  package func reconcileNotifications(
    _ request: ReconcileNotificationsRequest
  ) async throws(RPCClientError) -> JobResponse {
    try await call(WireMethods.reconcileNotifications, request)
  }
}
