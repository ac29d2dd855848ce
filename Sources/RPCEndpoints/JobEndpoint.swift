import AccessControl
import EntitlementDomain
package import EntitlementService
import EntitlementStore
package import RPCServer
import Wire

/// `entitle.v1.JobService`: the jobs of the App Store Server API.
package struct JobEndpoint: Sendable {
  private let records: JobRecords

  package init(records: JobRecords) {
    self.records = records
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.listJobs, listJobs)
    router.unary(WireMethods.retryJob, retryJob)
    router.unary(WireMethods.cancelJob, cancelJob)
    router.unary(WireMethods.reconcileNotifications, reconcileNotifications)
  }

  @Sendable
  private func listJobs(_ call: RPCCall, _ answer: RPCAnswer) {
    let permits = call.permits
    answer.respond(to: call, ListJobsRequest.self) { request in
      .later {
        var query = try request.query
        if let token = request.pageToken {
          guard let last = Int64(token), last > 0 else {
            throw ServiceError(
              .invalidArgument(field: "page_token"), "the page token is not one of this server")
          }
          query.after = last
        }
        let page: AppStoreJobPage
        if let id = request.jobID {
          let job = try await records.job(id, in: query, permits: permits)
          page = AppStoreJobPage(jobs: job.map { [$0] } ?? [], next: nil)
        } else {
          page = try await records.jobs(query)
        }
        let now = records.now
        return try ListJobsResponse(
          jobs: page.jobs.map { JobEntry($0, at: now) }, nextPageToken: page.next.map { "\($0)" }
        ).encoded()
      }
    }
  }

  @Sendable
  private func retryJob(_ call: RPCCall, _ answer: RPCAnswer) {
    let (permits, caller) = (call.permits, call.auditCaller)
    answer.respond(to: call, RetryJobRequest.self) { request in
      .later {
        let receipt = try await records.retry(
          request.jobID, permits: permits,
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller))
        return try JobResponse(receipt, at: records.now).encoded()
      }
    }
  }

  @Sendable
  private func cancelJob(_ call: RPCCall, _ answer: RPCAnswer) {
    let (permits, caller) = (call.permits, call.auditCaller)
    answer.respond(to: call, CancelJobRequest.self) { request in
      .later {
        let receipt = try await records.cancel(
          request.jobID, permits: permits,
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller))
        return try JobResponse(receipt, at: records.now).encoded()
      }
    }
  }

  @Sendable
  private func reconcileNotifications(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, ReconcileNotificationsRequest.self) { request in
      .later {
        let receipt = try await records.reconcile(
          request.scope, since: request.since,
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller))
        return try JobResponse(receipt, at: records.now).encoded()
      }
    }
  }
}

// MARK: Messages

extension ListJobsRequest {
  /// How many jobs a page looks through, as for notifications.
  static let scanLimit = 1_000

  /// Without the page token and the id.
  fileprivate var query: AppStoreJobQuery {
    get throws {
      AppStoreJobQuery(
        bundleID: bundleID, environment: environment,
        state: try Self.stored(state, "state"), kind: try Self.stored(kind, "kind"),
        chain: originalTransactionID, limit: effectivePageSize,
        scanLimit: Self.scanLimit)
    }
  }

  /// The same value in the store, which has its own enumerations with the same numbers.
  private static func stored<OnWire: RawRepresentable<Int>, Stored: RawRepresentable<Int>>(
    _ value: OnWire?, _ field: String
  ) throws -> Stored? {
    guard let value else { return nil }
    guard let stored = Stored(rawValue: value.rawValue) else {
      throw ServiceError(.invalidArgument(field: field), "the value of \(field) is not known")
    }
    return stored
  }
}

extension JobResponse {
  fileprivate init(_ receipt: JobReceipt, at now: Milliseconds) {
    self.init(job: JobEntry(receipt.job, at: now), isChanged: receipt.isChanged)
  }
}

extension JobEntry {
  /// - Parameter now: by the clock of jobs. A lease that has ended is none: its process is gone.
  init(_ job: AppStoreJob, at now: Milliseconds) {
    let isOpen = job.state == .open
    let isRunning = isOpen && job.lease != nil && job.dueAt > now
    self.init(
      jobID: job.id ?? 0, kind: JobKind(rawValue: job.key.kind.rawValue), scope: job.key.scope,
      originalTransactionID: job.key.chain, state: JobState(rawValue: job.state.rawValue),
      reasons: job.reasons.sorted { $0.rawValue < $1.rawValue }, openedAt: job.openedAt,
      changedAt: job.changedAt, dueAt: isOpen && !isRunning ? job.dueAt : nil,
      isRunning: isRunning, failures: job.failures + job.unexplained,
      lastFailure: job.lastFailure.isEmpty ? nil : job.lastFailure, since: job.since,
      completeUntil: job.completeUntil, calls: job.progress.calls,
      payloads: job.progress.payloads, added: job.progress.added, refused: job.progress.refused,
      transactionID: job.key.transactionID)
  }
}
