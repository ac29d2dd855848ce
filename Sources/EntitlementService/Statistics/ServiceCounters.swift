import Synchronization

/// What the use cases counted since the start. One short lock for each submission; reads of
/// customers do not touch it.
package final class ServiceCounters: Sendable {
  private let counts = Mutex<[ServiceCounter: Int64]>([:])

  package init() {}

  package func add(_ counter: ServiceCounter) {
    add([counter])
  }

  /// One for each element.
  package func add(_ counters: some Sequence<ServiceCounter>) {
    counts.withLock { counts in
      for counter in counters { counts[counter, default: 0] += 1 }
    }
  }

  package subscript(counter: ServiceCounter) -> Int64 {
    counts.withLock { $0[counter] ?? 0 }
  }

  /// Every counter, also those that are 0.
  package var values: [StatisticValue] {
    let counts = counts.withLock { $0 }
    return ServiceCounter.all.map { StatisticValue($0.name, counts[$0] ?? 0) }
  }
}
