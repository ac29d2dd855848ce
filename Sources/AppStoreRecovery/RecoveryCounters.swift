package import AppStoreServerAPI
import EntitlementDomain
package import EntitlementService
import EntitlementStore
import Synchronization

/// What this process has recovered since its start.
package final class RecoveryCounters: Sendable {
  /// How an attempt ended.
  enum Outcome: String, CaseIterable {
    case done, paused, failed, givenUp = "given_up", lost
  }

  private struct State {
    var attempts: [AppStoreJobKind: [Outcome: Int64]] = [:]
    var progress = AppStoreJobProgress()
    var running = 0
    /// As the database said last.
    var counts = AppStoreJobCounts()
    var consumption = ConsumptionCounts()
    var consumptionSent: Int64 = 0
    var consumptionNotSent: [ConsumptionCause: Int64] = [:]
    /// Number of attempts at rows of imports, by the state of the row after the attempt: failed, done, or
    /// waiting for a retry. Nil: the report could not be stored.
    var imported: [AccountImportRow.State?: Int64] = [:]
    var importing = 0
    var waitingRows = 0
  }

  /// More waiting rows of imports are not counted.
  static let countedRows = 100_000

  private let state = Mutex(State())

  package init() {}

  /// Attempts that are made now.
  var running: Int { state.withLock { $0.running } }

  func began() {
    state.withLock { $0.running += 1 }
  }

  func ended(_ kind: AppStoreJobKind, _ outcome: Outcome) {
    state.withLock { state in
      state.running -= 1
      state.attempts[kind, default: [:]][outcome, default: 0] += 1
    }
  }

  func add(_ progress: AppStoreJobProgress) {
    state.withLock { $0.progress += progress }
  }

  func counted(_ counts: AppStoreJobCounts, waitingRows: Int = 0) {
    state.withLock { state in
      state.counts = counts
      state.waitingRows = waitingRows
    }
  }

  /// Rows of imports that are being done.
  var importing: Int { state.withLock { $0.importing } }

  func importBegan() {
    state.withLock { $0.importing += 1 }
  }

  func importEnded(_ outcome: AccountImportRow.State?) {
    state.withLock { state in
      state.importing -= 1
      state.imported[outcome, default: 0] += 1
    }
  }

  func counted(_ counts: ConsumptionCounts) {
    state.withLock { $0.consumption = counts }
  }

  /// A consumption request ended.
  ///
  /// - Parameter cause: why it was not sent; nil: it was.
  func ended(_ cause: ConsumptionCause?) {
    state.withLock { state in
      if let cause {
        state.consumptionNotSent[cause, default: 0] += 1
      } else {
        state.consumptionSent += 1
      }
    }
  }

  /// - Parameter limits: those of the recovery.
  package func values(_ limits: RecoveryLimits) -> [StatisticValue] {
    let state = state.withLock { $0 }
    return [
      StatisticValue("jobs.open", state.counts.open),
      StatisticValue("jobs.given_up", state.counts.givenUp),
      StatisticValue("jobs.counted_limit", AppStoreJobCounts.limit),
      StatisticValue("jobs.running", state.running),
      StatisticValue("jobs.running_limit", limits.attempts),
      StatisticValue("jobs.payloads", state.progress.payloads),
      StatisticValue("jobs.added", state.progress.added),
      StatisticValue("jobs.refused", state.progress.refused),
      StatisticValue("imports.rows.done", state.imported[.done] ?? 0),
      StatisticValue("imports.rows.failed", state.imported[.failed] ?? 0),
      StatisticValue("imports.rows.repeated", state.imported[.waiting] ?? 0),
      StatisticValue("imports.rows.lost", state.imported[nil] ?? 0),
      StatisticValue("imports.waiting", state.waitingRows),
      StatisticValue("imports.waiting_limit", Self.countedRows),
      StatisticValue("imports.running", state.importing),
      StatisticValue("imports.running_limit", limits.importRows),
    ]
      + AppStoreJobKind.allCases.flatMap { kind in
        Outcome.allCases.map { outcome in
          StatisticValue(
            "jobs.attempts.\(kind.label).\(outcome.rawValue)",
            state.attempts[kind]?[outcome] ?? 0)
        }
      }
      // Without an open job there is no moment, and no value.
      + (state.counts.earliestDue.map {
        [StatisticValue("jobs.earliest_due_seconds", $0.rawValue / 1_000)]
      } ?? []) + consumptionValues(state)
  }

  private func consumptionValues(_ state: State) -> [StatisticValue] {
    [
      StatisticValue("consumption.open", state.consumption.open),
      StatisticValue("consumption.counted_limit", ConsumptionCounts.limit),
      StatisticValue("consumption.sent", state.consumptionSent),
    ]
      // The others end without an attempt, and are in the feed only.
      + ConsumptionCause.allCases.filter { ![.arrivedLate, .jobCancelled].contains($0) }.map {
        StatisticValue(
          "consumption.not_sent.\($0.name.lowercased())", state.consumptionNotSent[$0] ?? 0)
      }
      + (state.consumption.earliestDeadline.map {
        [StatisticValue("consumption.earliest_deadline_seconds", $0.rawValue / 1_000)]
      } ?? [])
  }
}

extension AppStoreJobKind {
  /// The name in metrics and log lines.
  var label: String {
    switch self {
    case .refetch: "refetch"
    case .reconciliation: "reconciliation"
    case .consumption: "consumption"
    }
  }
}

extension AppStoreServerStatistics {
  package var values: [StatisticValue] {
    var outcomes: [String: Int] = [:]
    for (call, count) in calls {
      outcomes[call.failure?.metricName ?? "ok", default: 0] += count
    }
    return [
      StatisticValue("app_store_api.requests", requests),
      StatisticValue("app_store_api.retries", retries),
      StatisticValue("app_store_api.permit_waits", permitWaits),
      StatisticValue("app_store_api.tokens_signed", tokensSigned),
      StatisticValue("app_store_api.key_file_failures", keyFileFailures),
      StatisticValue("app_store_api.calls_in_progress", callsInProgress),
      StatisticValue("app_store_api.calls_in_progress_limit", callsInProgressLimit),
      StatisticValue("app_store_api.waiting_calls", waitingCalls),
      StatisticValue("app_store_api.waiting_calls_limit", waitingCallsLimit),
      StatisticValue("app_store_api.calls.ok", outcomes["ok"] ?? 0),
    ]
      + AppStoreServerError.Code.allCases.map {
        StatisticValue("app_store_api.calls.\($0.metricName)", outcomes[$0.metricName] ?? 0)
      }
  }
}

extension AppStoreServerError.Code {
  /// The code in snake case.
  fileprivate var metricName: String {
    rawValue.reduce(into: "") { name, character in
      if character.isUppercase { name.append("_") }
      name += character.lowercased()
    }
  }
}
