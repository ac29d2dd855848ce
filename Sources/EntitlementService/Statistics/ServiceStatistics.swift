package import EntitlementStore
import Synchronization
package import Verification
import Workers

/// A metric. Names are listed in deploy/docs/operations.md.
package struct StatisticValue: Hashable, Sendable {
  package let name: String
  package let value: Int64
  /// Whether the name ends with the name of a caller, which is for those who may use all apps.
  package let namesCaller: Bool

  package init(_ name: String, _ value: some BinaryInteger) {
    self.name = name
    self.value = Int64(clamping: value)
    namesCaller = false
  }

  /// - Parameter caller: whom the value is about; the last part of its name.
  package init(_ name: String, _ value: some BinaryInteger, of caller: String) {
    self.name = "\(name).\(caller)"
    self.value = Int64(clamping: value)
    namesCaller = true
  }
}

/// All metrics of the server, collected at each request.
package final class ServiceStatistics: Sendable {
  package typealias Source = @Sendable () -> [StatisticValue]

  private let sources: Mutex<[Source]>

  package init(_ sources: [Source] = []) {
    self.sources = Mutex(sources)
  }

  /// Adds the metrics of a part that is created later.
  package func add(_ source: @escaping Source) {
    sources.withLock { $0.append(source) }
  }

  /// Sorted by name.
  package var values: [StatisticValue] {
    sources.withLock { $0 }.flatMap { $0() }.sorted { $0.name < $1.name }
  }
}

extension CacheStatistics {
  package var values: [StatisticValue] {
    [
      StatisticValue("cache.hits", hits), StatisticValue("cache.misses", misses),
      StatisticValue("cache.joined_loads", joinedLoads),
      StatisticValue("cache.evictions", evictions), StatisticValue("cache.entries", entries),
      StatisticValue("cache.bytes", bytes), StatisticValue("cache.bytes_limit", bytesLimit),
    ]
  }
}

extension ReadStatistics {
  package var values: [StatisticValue] {
    [
      StatisticValue("reads.waiting", waiting), StatisticValue("reads.shed", shed),
      StatisticValue("reads.batches", batches),
      StatisticValue("reads.waiting_limit", waitingLimit),
      StatisticValue("reads.permits", permits),
      StatisticValue("reads.permits_in_use", permitsInUse),
    ]
  }
}

extension VerificationPool.Statistics {
  package var values: [StatisticValue] {
    [
      StatisticValue("verification.queued", work.queued),
      StatisticValue("verification.running", work.running),
      StatisticValue("verification.done", work.done),
      StatisticValue("verification.given_up", work.givenUp),
      StatisticValue("verification.turned_away", work.turnedAway),
      StatisticValue("verification.bytes", work.weight),
      StatisticValue("verification.workers", limits[.interactive]?.workers ?? 0),
    ]
      + WorkPriority.allCases.flatMap { work[$0].values(of: $0) }
      + limits.flatMap { priority, limits in
        [
          StatisticValue("verification.queued_limit.\(priority.rawValue)", limits.items),
          StatisticValue("verification.bytes_limit.\(priority.rawValue)", limits.weight),
        ]
      }
      + Verdict.allCases.map {
        StatisticValue("verification.verdicts.\($0.name)", verdicts[$0] ?? 0)
      }
  }
}

extension StatusStatistics {
  package var values: [StatisticValue] {
    [
      StatisticValue("certificate_status.asked", asked),
      StatisticValue("certificate_status.good", good),
      StatisticValue("certificate_status.revoked", revoked),
      StatisticValue("certificate_status.unknown", unknown),
      StatisticValue("certificate_status.unusable", unusable),
      StatisticValue("certificate_status.unreachable", unreachable),
      StatisticValue("certificate_status.without_responder", withoutResponder),
      StatisticValue("certificate_status.turned_away", turnedAway),
      StatisticValue("certificate_status.hits", hits),
      StatisticValue("certificate_status.joined", joined),
      StatisticValue("certificate_status.undecided", undecided),
      StatisticValue("certificate_status.entries", entries),
      StatisticValue("certificate_status.entries_limit", entriesLimit),
      StatisticValue("certificate_status.in_flight", inFlight),
      StatisticValue("certificate_status.in_flight_limit", inFlightLimit),
    ]
  }
}

extension EvaluationPool {
  package var values: [StatisticValue] {
    let work = statistics
    return [
      StatisticValue("evaluations.queued", work.queued),
      StatisticValue("evaluations.queued_limit", limits.computations),
      StatisticValue("evaluations.running", work.running),
      StatisticValue("evaluations.workers", width),
      StatisticValue("evaluations.facts", work.weight),
      StatisticValue("evaluations.facts_limit", limits.facts),
      StatisticValue("evaluations.done", work.done),
      StatisticValue("evaluations.given_up", work.givenUp),
      StatisticValue("evaluations.shed", work.turnedAway),
      StatisticValue("evaluations.waiting_microseconds", work.waitingTime.microseconds),
      StatisticValue("evaluations.working_microseconds", work.workingTime.microseconds),
    ]
  }
}

extension WorkerPool.Work {
  fileprivate func values(of priority: WorkPriority) -> [StatisticValue] {
    func value(_ name: String, _ value: some BinaryInteger) -> StatisticValue {
      StatisticValue("verification.\(name).\(priority.rawValue)", value)
    }
    return [
      value("queued", queued), value("running", running), value("done", done),
      value("given_up", givenUp), value("turned_away", turnedAway), value("bytes", weight),
      value("pieces", pieces), value("waiting_microseconds", waitingTime.microseconds),
      value("working_microseconds", workingTime.microseconds),
    ]
  }
}

extension Duration {
  /// Rounded down, and clamped to the largest value.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, isTooMuch) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    return isTooLarge || isTooMuch ? .max : sum
  }
}
