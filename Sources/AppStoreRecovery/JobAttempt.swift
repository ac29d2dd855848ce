import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import NIOCore
import Verification
import Workers

/// One attempt at a job, by the holder of its lease: what all kinds of jobs share.
struct JobAttempt {
  let job: AppStoreJob
  let lease: String
  let recovery: AppStoreRecovery
  /// When the attempt began, by ``ServiceTimer``.
  private let began: Duration
  /// When its present step began.
  private var stepBegan: Duration
  /// Stored with the next report.
  var cursor: String
  /// Since the last report.
  private var progress = AppStoreJobProgress()
  /// Whether a report of this attempt has moved the cursor.
  private var hasAdvanced = false
  /// The chains of the transactions and renewal infos that were accepted.
  private(set) var acceptedChains: Set<OriginalTransactionID> = []
  /// Why the last payload was refused; empty for none.
  private(set) var refusal = ""
  /// Until when a consumption request can be answered, by the clock of the service; nil for other jobs.
  var consumptionDeadline: Milliseconds?

  init(_ job: AppStoreJob, lease: String, of recovery: AppStoreRecovery) {
    self.job = job
    self.lease = lease
    self.recovery = recovery
    began = recovery.timer.now()
    stepBegan = began
    cursor = job.cursor
  }

  var scope: AppScope { job.key.scope }

  /// Makes the attempt and reports how it ended.
  consuming func outcome(
    _ body: (inout JobAttempt) async throws(AttemptFault) -> Milliseconds?
  ) async -> RecoveryCounters.Outcome {
    // Its last processes may have ended because of it.
    if job.failures >= recovery.limits.failures, job.key.kind != .consumption {
      return await end(.givenUp(job.lastFailure))
    }
    do throws(AttemptFault) {
      let completeUntil = try await body(&self)
      return await end(.done(completeUntil: completeUntil))
    } catch {
      return await end(reportOutcome(of: error))
    }
  }

  // MARK: Steps

  /// Asks the App Store, before the time of the step is up.
  mutating func ask<Answer>(
    _ call: (AppStoreServerClient, NIODeadline) async throws(AppStoreServerError) -> Answer
  ) async throws(AttemptFault) -> Answer {
    let left = timeLeft
    guard left > .zero else { throw .timeIsUp }
    do throws(AppStoreServerError) {
      let answer = try await call(recovery.client, .now() + TimeAmount(left))
      answered()
      return answer
    } catch {
      throw .appStore(error)
    }
  }

  /// The failure of a list whose pages lead in a circle.
  static let endlessPages = "the App Store's pages repeat a position"

  /// Counts an answer of the App Store.
  mutating func answered() {
    progress.calls += 1
  }

  /// Of the present step.
  var timeLeft: Duration {
    recovery.limits.stepTime - (recovery.timer.now() - stepBegan)
  }

  /// Verifies and stores transactions and renewal infos of the job's app, as if they were submitted.
  mutating func submit(_ payloads: [String]) async throws(AttemptFault) {
    let scope = scope
    var rest = payloads[...]
    while !rest.isEmpty {
      let batch = rest.prefix(recovery.limits.batch)
      rest = rest.dropFirst(batch.count)
      let result: SubmissionResult
      do throws(ServiceError) {
        result = try await recovery.submissions.submit(
          TransactionSubmission(
            signedPayloads: batch.map { Array($0.utf8) }, priority: .bulk,
            permits: { $0 == scope }))
      } catch {
        throw .service(error)
      }
      for item in result.items {
        try count(
          item.verdict, item.detail,
          isNew: item.disposition == .added || item.disposition == .replaced)
        if item.verdict == .ok, let chain = item.originalTransactionID {
          acceptedChains.insert(chain)
        }
      }
    }
  }

  /// Verifies and stores notifications, as if they had arrived. They share commits.
  mutating func submit(_ notifications: [SentNotification]) async throws(AttemptFault) {
    let scope = scope
    let submissions = recovery.submissions
    let results = await withTaskGroup(of: Result<NotificationResult, ServiceError>.self) { group in
      for notification in notifications {
        group.addTask {
          do throws(ServiceError) {
            return .success(
              try await submissions.submit(
                NotificationSubmission(
                  signedPayload: Array(notification.signedPayload.utf8), priority: .bulk,
                  permits: { $0 == scope })))
          } catch {
            return .failure(error)
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for result in results {
      switch result {
      case .success(let result):
        try count(result.verdict, result.detail, isNew: !result.wasKnown)
      case .failure(let error): throw .service(error)
      }
    }
  }

  private mutating func count(
    _ verdict: Verdict, _ detail: String?, isNew: Bool
  ) throws(AttemptFault) {
    progress.payloads += 1
    switch verdict {
    case .ok: progress.added += isNew ? 1 : 0
    case .retryable: throw .undecided
    default:
      progress.refused += 1
      refusal = "\(verdict.name): \(detail ?? "")"
    }
  }

  /// Stores the cursor and the progress, and extends the lease: the next step begins.
  mutating func keep() async throws(AttemptFault) {
    let until = recovery.jobClock.now().advanced(by: recovery.limits.leaseTime)
    guard await report(.working(until: until)) else { throw .leaseLost }
    progress = AppStoreJobProgress()
    hasAdvanced = true
    stepBegan = recovery.timer.now()
    guard stepBegan - began < recovery.limits.turnTime else { throw .turnIsOver }
  }

  // MARK: Reports

  private func end(_ outcome: AppStoreJobReport.Outcome?) async -> RecoveryCounters.Outcome {
    guard let outcome, await report(outcome) else { return .lost }
    switch outcome {
    case .working, .paused: return .paused
    case .done: return .done
    case .failed: return .failed
    case .givenUp: return .givenUp
    }
  }

  /// - Returns: false when the lease is lost, or the report could not be stored: the job is leased
  ///   again when the lease ends.
  private func report(_ outcome: AppStoreJobReport.Outcome) async -> Bool {
    log(outcome)
    recovery.counters.add(progress)
    let request = AppStoreJobRequest(
      .report(
        AppStoreJobReport(of: job, lease: lease, outcome, cursor: cursor, progress: progress)),
      at: recovery.jobClock.now())
    let store = recovery.store
    // A cancelled attempt reports too, so that others need not wait for the end of its lease.
    let answer = await Task.detached { () -> Result<AppStoreJobAnswer, StoreError> in
      do throws(StoreError) {
        return .success(try await store.change(request))
      } catch {
        return .failure(error)
      }
    }.value
    switch answer {
    case .success(.done): return true
    case .success(.leaseLost), .success(.unknown): return false
    case .failure(let error):
      recovery.logger.warning(
        "the progress of a job cannot be stored",
        metadata: ["job": .stringConvertible(job.id ?? 0), "reason": "\(error)"])
      return false
    }
  }

  /// Nil for a job that another process has.
  private func reportOutcome(of fault: AttemptFault) -> AppStoreJobReport.Outcome? {
    if job.key.kind == .consumption { return consumptionOutcome(of: fault) }
    switch fault.setback(recovery.limits) {
    case .lost: return nil
    case .turnIsOver: return .paused(until: recovery.jobClock.now(), reason: "")
    case .waits(let reason, let wait, let moment):
      return .paused(until: recovery.end(of: wait, until: moment), reason: reason)
    case .failed(let reason): return failed(reason)
    case .unexplained(let reason): return unexplained(reason)
    }
  }

  /// Of a job that tells about consumption. It is not given up: its request ends at its deadline, which
  /// an attempt at that moment finds (R88).
  private func consumptionOutcome(of fault: AttemptFault) -> AppStoreJobReport.Outcome? {
    let limits = recovery.limits
    switch fault {
    case .leaseLost: return nil
    case .turnIsOver: return .paused(until: recovery.jobClock.now(), reason: "")
    case .appStore(let error) where [.shutDown, .cancelled].contains(error.code):
      return .paused(until: recovery.jobClock.now(), reason: "")
    case .waiting(let reason):
      return .paused(until: nextConsumptionAttempt(limits.longestConsumptionWait), reason: reason)
    case .store(let error):
      return .paused(
        until: recovery.end(of: limits.shortestWait, until: nil),
        reason: "the store failed: \(error.code)")
    case .appStore(let error):
      let reason = error.description + (error.errorCode.map { " (\($0))" } ?? "")
      let wait = limits.backoff(afterFailures: job.failures + 1, jitter: .random(in: 0...1))
      let asked = error.retryAt.map {
        Duration.milliseconds($0.rawValue - recovery.clock.now().rawValue)
      }
      return .failed(
        reason, retryAt: nextConsumptionAttempt(max(wait, asked ?? .zero)), isUnexplained: false)
    case .timeIsUp, .undecided, .unexplained, .service:
      return .failed(
        "a step failed", retryAt: nextConsumptionAttempt(limits.longestConsumptionWait),
        isUnexplained: false)
    }
  }

  /// How long before the last moment of a call the last attempt is due.
  private static let consumptionMargin = Duration.seconds(30)

  /// By the clock of jobs: after a wait, but no later than the deadline, and never long after a change
  /// of the clocks.
  private func nextConsumptionAttempt(_ wait: Duration) -> Milliseconds {
    let limits = recovery.limits
    var wait = min(wait, limits.longestConsumptionWait)
    if let deadline = consumptionDeadline {
      let left = Duration.milliseconds(
        deadline.rawValue - ConsumptionSituation.callTime - recovery.clock.now().rawValue)
      // The last call is made while it is allowed. The attempt after it ends the request.
      let lastWait = left > Self.consumptionMargin ? left - Self.consumptionMargin : left
      wait = min(wait, max(lastWait, limits.pollInterval))
    }
    return recovery.jobClock.now().advanced(by: wait)
  }

  private func failed(_ reason: String) -> AppStoreJobReport.Outcome {
    let limits = recovery.limits
    let failures = (hasAdvanced ? 0 : job.failures) + 1
    guard failures < limits.failures else { return .givenUp(reason) }
    let wait = limits.backoff(afterFailures: failures, jitter: .random(in: 0...1))
    return .failed(
      reason, retryAt: recovery.jobClock.now().advanced(by: wait), isUnexplained: false)
  }

  private func unexplained(_ reason: String) -> AppStoreJobReport.Outcome {
    let waits = recovery.limits.unexplainedWaits
    guard job.unexplained < waits.count else { return .givenUp(reason) }
    let wait = waits[job.unexplained]
    return .failed(
      reason, retryAt: recovery.jobClock.now().advanced(by: wait), isUnexplained: true)
  }

  private func log(_ outcome: AppStoreJobReport.Outcome) {
    switch outcome {
    case .working: break
    case .done:
      guard !refusal.isEmpty else { return }
      recovery.logger.warning(
        "the App Store listed what this server does not accept", metadata: metadata(refusal))
    case .paused(_, let reason):
      guard !reason.isEmpty else { return }
      recovery.logger.info(
        "a job of the App Store Server API waits", metadata: metadata(reason))
    case .failed(let reason, let retryAt, _):
      recovery.logger.info(
        "a job of the App Store Server API failed and is retried",
        metadata: metadata(reason).merging(["retry_at_ms": .stringConvertible(retryAt.rawValue)]) {
          $1
        })
    case .givenUp(let reason):
      recovery.logger.error(
        "a job of the App Store Server API was given up", metadata: metadata(reason))
    }
  }

  private func metadata(_ reason: String) -> Logger.Metadata {
    [
      "job": .stringConvertible(job.id ?? 0), "kind": "\(job.key.kind.label)",
      "bundle_id": "\(scope.bundleID)", "environment": "\(scope.environment.rawValue)",
      "reason": "\(reason)",
    ]
  }
}

/// Why an attempt ended before the job was done.
enum AttemptFault: Error {
  /// The job was cancelled, or another process has it.
  case leaseLost
  /// Other jobs go first.
  case turnIsOver
  /// The present step has taken too long.
  case timeIsUp
  /// Something is missing that callers may still tell. The reason is one line.
  case waiting(String)
  case appStore(AppStoreServerError)
  case service(ServiceError)
  case store(StoreError)
  /// The verification of a payload may succeed later.
  case undecided
  /// The App Store's answers do not explain why it was asked.
  case unexplained(String)
}

/// What the end of an attempt means for its job, or for its row of an import.
enum AttemptSetback {
  /// Another process has it.
  case lost
  /// It goes on at once, after others.
  case turnIsOver
  /// No failure of the job: it waits at least so long, and until then as far as that is known.
  case waits(String, atLeast: Duration, until: Milliseconds?)
  case failed(String)
  /// The App Store may know more later.
  case unexplained(String)
}

extension AttemptFault {
  func setback(_ limits: RecoveryLimits) -> AttemptSetback {
    switch self {
    case .leaseLost: return .lost
    case .turnIsOver: return .turnIsOver
    case .timeIsUp: return .failed("a step took longer than its time")
    case .waiting(let reason): return .waits(reason, atLeast: limits.shortestWait, until: nil)
    case .undecided: return .failed("the verification of an answer could not be decided")
    case .unexplained(let reason): return .unexplained(reason)
    case .store(let error):
      // Trouble of this server is no failure of the job.
      let reason = "the store failed: \(error.code)"
      return [.unavailable, .locked, .full, .closed].contains(error.code)
        ? .waits(reason, atLeast: limits.shortestWait, until: nil) : .failed(reason)
    case .service(let error):
      if case .internalFault = error.code { return .failed(error.message) }
      return .waits(error.message, atLeast: limits.shortestWait, until: nil)
    case .appStore(let error):
      let reason = error.description + (error.errorCode.map { " (\($0))" } ?? "")
      switch error.code {
      case .shutDown, .cancelled: return .turnIsOver
      case .busy: return .waits(reason, atLeast: limits.shortestWait, until: nil)
      case .rateLimited: return .waits(reason, atLeast: limits.shortestWait, until: error.retryAt)
      // Jobs cannot help it, and all of them would be given up.
      case .unauthorized, .noKey, .keyUnusable:
        return .waits(reason, atLeast: limits.keyWait, until: nil)
      // Without a code, the answer may be of what stands between.
      case .refused where error.errorCode != nil && !error.isRetryable:
        return .unexplained(reason)
      default: return .failed(reason)
      }
    }
  }
}
