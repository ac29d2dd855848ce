import Synchronization
package import Verification

/// A figure by its name; names are listed in deploy/docs/operations.md.
package struct StatisticValue: Hashable, Sendable {
  package let name: String
  package let value: Int64

  package init(_ name: String, _ value: some BinaryInteger) {
    self.name = name
    self.value = Int64(clamping: value)
  }
}

/// Every figure that the server can tell of itself, gathered when somebody asks.
package final class ServiceStatistics: Sendable {
  package typealias Source = @Sendable () -> [StatisticValue]

  private let sources: Mutex<[Source]>

  package init(_ sources: [Source] = []) {
    self.sources = Mutex(sources)
  }

  /// Adds figures of a part that came to be later.
  package func add(_ source: @escaping Source) {
    sources.withLock { $0.append(source) }
  }

  /// By name.
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
      StatisticValue("cache.bytes", bytes),
    ]
  }
}

extension ReadStatistics {
  package var values: [StatisticValue] {
    [
      StatisticValue("reads.waiting", waiting), StatisticValue("reads.shed", shed),
      StatisticValue("reads.batches", batches),
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
    ]
      + WorkPriority.allCases.flatMap { work[$0].values(of: $0) }
      + Verdict.allCases.map {
        StatisticValue("verification.verdicts.\($0.name)", verdicts[$0] ?? 0)
      }
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
  /// Rounded down; what does not fit is the greatest that does.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, isTooMuch) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    return isTooLarge || isTooMuch ? .max : sum
  }
}
