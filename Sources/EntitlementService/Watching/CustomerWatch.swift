import EntitlementDomain
package import EntitlementStore
import Synchronization

/// Tells whoever watches what changes, as it is committed, with the customers' states.
///
/// Each watcher has a place in the durable feed and asks for what follows it: so one that reads
/// slowly holds nothing here. The latest changes are held once for all of them.
package final class CustomerWatch: Sendable {
  private struct Counts {
    var open = 0
    var started: Int64 = 0
    var refused: Int64 = 0
    var items: Int64 = 0
  }

  let store: any EntitlementStore
  let reader: CustomerReader
  let horizon: FeedHorizon
  let timer: ServiceTimer
  let limits: WatchLimits
  let recent: RecentChanges
  private let counts = Mutex(Counts())

  /// - Parameter horizon: what a ``ChangeFollower`` moves: without one nobody is told of anything.
  package init(
    store: any EntitlementStore, reader: CustomerReader, horizon: FeedHorizon,
    timer: ServiceTimer = .system, limits: WatchLimits = WatchLimits()
  ) {
    self.store = store
    self.reader = reader
    self.horizon = horizon
    self.timer = timer
    self.limits = limits
    recent = RecentChanges(store: store, limits: limits)
  }

  /// - Throws: ``ServiceError/Code-swift.enum/outOfRange`` for a cursor that the feed does not reach
  ///   back to, or that it does not know, as after a failover that lost changes;
  ///   ``ServiceError/Code-swift.enum/resourceExhausted`` for one watch too many.
  package func start(_ request: WatchRequest) async throws(ServiceError) -> Watcher {
    let isAdmitted = counts.withLock { counts in
      guard counts.open < limits.watches else {
        counts.refused += 1
        return false
      }
      counts.open += 1
      counts.started += 1
      return true
    }
    guard isAdmitted else {
      throw ServiceError(.resourceExhausted, "\(limits.watches) watches are open already")
    }
    do throws(StoreError) {
      // Before the look at the cursor: what begins anew after it is looked at again.
      let beginning = horizon.beginningCount
      let cursor: WatchCursor
      if let wanted = request.cursor {
        // Whether it has expired shows at once, and not after the first item.
        try await store.checkFeedReaches(wanted)
        cursor = wanted
      } else {
        cursor = try await store.endCursor()
      }
      return Watcher(self, request, cursor: cursor, beginning: beginning)
    } catch {
      watchEnded()
      throw ServiceError(error)
    }
  }

  package var values: [StatisticValue] {
    let counts = counts.withLock { $0 }
    return [
      StatisticValue("watches.open", counts.open),
      StatisticValue("watches.started", counts.started),
      StatisticValue("watches.refused", counts.refused),
      StatisticValue("watches.items", counts.items),
      StatisticValue("watches.reads", recent.readCount),
    ]
  }

  func told(_ items: Int) {
    counts.withLock { $0.items += Int64(items) }
  }

  func watchEnded() {
    counts.withLock { $0.open -= 1 }
  }
}
