package import EntitlementDomain
package import EntitlementStore
import Synchronization
package import Workers

/// Streams the changes of the feed to watchers, with the states of the changed customers.
///
/// Each watcher has a cursor in the durable feed and reads from there, so a slow watcher uses no
/// memory for its backlog. The latest changes are cached once for all watchers.
package final class CustomerWatch: Sendable {
  private struct Counts {
    var open: SourceShares
    var started: Int64 = 0
    var refused: Int64 = 0
    var items: Int64 = 0
  }

  let store: any EntitlementStore
  let reader: CustomerReader
  let watermark: FeedWatermark
  let timer: ServiceTimer
  let limits: WatchLimits
  let recent: RecentChanges
  private let counts: Mutex<Counts>

  /// - Parameter watermark: advanced by a ``ChangeFollower``. Watchers get no changes without one.
  package init(
    store: any EntitlementStore, reader: CustomerReader, watermark: FeedWatermark,
    timer: ServiceTimer = .system, limits: WatchLimits = WatchLimits()
  ) {
    self.store = store
    self.reader = reader
    self.watermark = watermark
    self.timer = timer
    self.limits = limits
    counts = Mutex(Counts(open: SourceShares(limit: limits.watches)))
    recent = RecentChanges(store: store, limits: limits)
  }

  /// Starts a watch. It ends when the watcher is released.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/outOfRange`` for a cursor that the feed no longer
  ///   contains, or does not know, as after a failover that lost changes;
  ///   ``ServiceError/Code-swift.enum/resourceExhausted`` when ``WatchLimits/watches`` are open, or
  ///   the source has as many as it leaves to others: half of them at most.
  package func start(_ request: WatchRequest) async throws(ServiceError) -> Watcher {
    let isAdmitted = counts.withLock { counts in
      guard counts.open.admit(request.source) else {
        counts.refused += 1
        return false
      }
      counts.started += 1
      return true
    }
    guard isAdmitted else {
      throw ServiceError(
        .resourceExhausted, "too many of the server's \(limits.watches) watches are open")
    }
    do throws(StoreError) {
      // Read before the cursor is checked. After a restart in between, the watcher checks it again.
      let epoch = watermark.epoch
      let cursor: WatchCursor
      if let requested = request.cursor {
        // An expired cursor is reported at once, not after the first item.
        try await store.checkFeedReaches(requested)
        cursor = requested
      } else {
        cursor = try await store.endCursor()
      }
      return Watcher(self, request, cursor: cursor, epoch: epoch)
    } catch {
      watchEnded(request.source)
      throw ServiceError(error)
    }
  }

  package var values: [StatisticValue] {
    let counts = counts.withLock { $0 }
    return [
      StatisticValue("watches.open", counts.open.pending),
      StatisticValue("watches.open_limit", limits.watches),
      StatisticValue("watches.started", counts.started),
      StatisticValue("watches.refused", counts.refused),
      StatisticValue("watches.items", counts.items),
      StatisticValue("watches.reads", recent.readCount),
    ]
  }

  func itemsDelivered(_ count: Int) {
    counts.withLock { $0.items += Int64(count) }
  }

  func watchEnded(_ source: WorkSource) {
    counts.withLock { $0.open.ended(source) }
  }
}

/// Selects the changes that a watcher gets, and where it starts.
package struct WatchRequest: Hashable, Sendable {
  /// The cursor of the last item that the caller processed; nil: start at the end of the feed.
  package var cursor: WatchCursor?
  /// Nil: every app.
  package var bundleID: BundleID?
  /// Nil: every environment.
  package var environment: StoreEnvironment?
  /// Empty: all customers, unlinked chains, and events without a customer.
  package var accounts: Set<AccountID>
  /// Only changes with at least one of these kinds; empty: all changes.
  package var kinds: ChangeKinds
  /// Items contain no states.
  package var isWithoutStates: Bool
  /// Where the request comes from.
  package var source: WorkSource

  package init(
    cursor: WatchCursor? = nil, bundleID: BundleID? = nil, environment: StoreEnvironment? = nil,
    accounts: Set<AccountID> = [], kinds: ChangeKinds = [], isWithoutStates: Bool = false,
    source: WorkSource = .server
  ) {
    self.cursor = cursor
    self.bundleID = bundleID
    self.environment = environment
    self.accounts = accounts
    self.kinds = kinds
    self.isWithoutStates = isWithoutStates
    self.source = source
  }

  func matches(_ change: Change) -> Bool {
    if let bundleID, change.scope.bundleID != bundleID { return false }
    if let environment, change.scope.environment != environment { return false }
    if !kinds.isEmpty, kinds.isDisjoint(with: change.kinds) { return false }
    if accounts.isEmpty { return true }
    guard case .account(_, let account) = change.subject else { return false }
    return accounts.contains(account)
  }
}

/// Limits of watches.
package struct WatchLimits: Hashable, Sendable {
  /// Open watches. Each needs memory for items that the client has not read, and processes each
  /// change.
  package var watches: Int
  /// The time without a matching change after which an item with the cursor alone is sent. It keeps
  /// the client's cursor from expiring.
  package var heartbeat: Duration
  /// The number of latest changes that are cached for all watches. A watcher within them needs no
  /// read of the store. A change takes a few hundred bytes.
  package var window: Int
  /// The number of changes in one read of the store.
  package var page: Int
  /// The number of changes whose states are loaded before the first change is sent. It is smaller
  /// than a page, as states are larger than changes.
  package var batch: Int
  /// Concurrent loads of states of one watch.
  package var loads: Int

  package init(
    watches: Int = 256, heartbeat: Duration = .seconds(10), window: Int = 4_096,
    page: Int = 1_000, batch: Int = 64, loads: Int = 8
  ) {
    self.watches = watches
    self.heartbeat = heartbeat
    self.window = window
    self.page = page
    self.batch = batch
    self.loads = loads
  }
}
