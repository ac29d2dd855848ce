import EntitlementDomain
package import EntitlementStore
import Workers

/// One watch of the change feed, used by one task. It counts against ``WatchLimits/watches`` until
/// it is released.
package final class Watcher {
  private let watch: CustomerWatch
  private let request: WatchRequest
  /// Every matching change up to here was delivered.
  private var cursor: WatchCursor
  /// Changes that were read and not delivered yet.
  private var pending: ArraySlice<Change> = []
  /// The cursor after the pending changes, from which the feed is read next.
  private var readCursor: WatchCursor
  /// The epoch of the follower in which the cursors were checked.
  private var epoch: Int64
  private var lastDelivery: Duration?

  init(
    _ watch: CustomerWatch, _ request: WatchRequest, cursor: WatchCursor,
    epoch: Int64
  ) {
    self.watch = watch
    self.request = request
    self.cursor = cursor
    readCursor = cursor
    self.epoch = epoch
  }

  deinit {
    watch.watchEnded(request.source)
  }

  /// Waits for the next items and returns at least one, in commit order. The first call returns one
  /// item with the cursor alone.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/cancelled`` when the task is cancelled;
  ///   ``ServiceError/Code-swift.enum/outOfRange`` when changes after the last cursor were trimmed,
  ///   or the database has lost it; and faults of the store, after which a new watch can continue
  ///   from the last cursor.
  package func next() async throws(ServiceError) -> [WatchItem] {
    guard lastDelivery != nil else { return delivered([cursorItem]) }
    while true {
      if Task.isCancelled { throw ServiceError(.cancelled, "the caller cancelled the call") }
      // Taken before the read, so that a wake-up during the read is not missed.
      let wakeCount = watch.watermark.wakeCount
      try await checkHistory()
      let hasRead = pending.isEmpty ? try await read() : true
      if !pending.isEmpty { return delivered(try await items()) }
      if isHeartbeatDue { return delivered([cursorItem]) }
      // After a page without a match, the next page may be available already.
      if !hasRead { await watch.watermark.waitForWake(after: wakeCount) }
    }
  }

  private var cursorItem: WatchItem {
    WatchItem(cursor: cursor, change: nil, state: nil)
  }

  private var isHeartbeatDue: Bool {
    lastDelivery.map { watch.timer.now() - $0 >= watch.limits.heartbeat } ?? true
  }

  private func delivered(_ items: [WatchItem]) -> [WatchItem] {
    lastDelivery = watch.timer.now()
    watch.itemsDelivered(items.count)
    return items
  }

  /// Checks the cursor again after the follower restarted, as the database may have lost changes.
  private func checkHistory() async throws(ServiceError) {
    let latest = watch.watermark.epoch
    guard latest != epoch else { return }
    do {
      try await watch.store.checkFeedReaches(cursor)
    } catch {
      throw ServiceError(error)
    }
    pending = []
    readCursor = cursor
    epoch = latest
  }

  /// Reads a page of the feed and stores the matching changes in ``pending``.
  ///
  /// - Returns: whether the page had any change.
  private func read() async throws(ServiceError) -> Bool {
    let watermark = watch.watermark.position
    guard watermark > readCursor.position else { return false }
    let changes: [Change]
    do {
      changes = try await watch.recent.changes(
        after: readCursor, watermark: watermark, epoch: epoch)
    } catch {
      throw ServiceError(error)
    }
    guard let last = changes.last else { return false }
    pending = changes.filter { request.matches($0) }[...]
    readCursor = WatchCursor(after: last)
    if pending.isEmpty { cursor = readCursor }
    return true
  }

  /// The first batch of the pending changes, with their states.
  private func items() async throws(ServiceError) -> [WatchItem] {
    let batch = pending.prefix(watch.limits.batch)
    let states = request.isWithoutStates ? [:] : try await states(after: batch)
    pending = pending.dropFirst(batch.count)
    return batch.map { change in
      // The last cursor of a page also skips the changes after it that do not match.
      let isLast = pending.isEmpty && change.sequence == batch.last?.sequence
      cursor = isLast ? readCursor : WatchCursor(after: change)
      return WatchItem(
        cursor: cursor, change: change, state: change.subject.flatMap { states[$0] })
    }
  }

  /// One state for each customer, which includes the customer's latest change of the batch.
  private func states(after changes: ArraySlice<Change>) async throws(ServiceError)
    -> [CustomerSubject: CustomerAnswer]
  {
    var latest: [CustomerSubject: Int64] = [:]
    for change in changes {
      if let subject = change.subject { latest[subject] = change.sequence }
    }
    let reader = watch.reader
    let source = request.source
    let states = await withTaskGroup(
      of: (CustomerSubject, Result<CustomerAnswer?, ServiceError>).self
    ) { group in
      var states: [(CustomerSubject, Result<CustomerAnswer?, ServiceError>)] = []
      var started = 0
      for (subject, sequence) in latest {
        if started >= watch.limits.loads, let state = await group.next() { states.append(state) }
        started += 1
        group.addTask {
          (subject, await reader.state(of: subject, including: sequence, for: source))
        }
      }
      for await state in group { states.append(state) }
      return states
    }
    var found: [CustomerSubject: CustomerAnswer] = [:]
    for (subject, state) in states { found[subject] = try state.get() }
    return found
  }
}

/// One item of a watch.
package struct WatchItem: Sendable {
  /// The cursor to continue from after this item.
  package let cursor: WatchCursor
  /// Nil for an item with the cursor alone.
  package let change: Change?
  /// The encoded state of the customer, which includes the change and perhaps later ones. Nil when
  /// the request excludes states, when the change has no customer, and when the app or environment
  /// is no longer in the catalog.
  package let state: CustomerAnswer?
}

extension CustomerReader {
  /// - Returns: nil when the app or environment is no longer in the catalog, and when the state
  ///   cannot be computed. A fault of one customer must not end the watch, as it would end each
  ///   retry too.
  fileprivate func state(
    of subject: CustomerSubject, including sequence: Int64, for source: WorkSource
  ) async -> Result<CustomerAnswer?, ServiceError> {
    let (selector, scope): (CustomerSelector, AppScope) =
      switch subject {
      case .account(let scope, let id): (.account(id), scope)
      case .unlinkedChain(let scope, let id): (.originalTransaction(id), scope)
      }
    do throws(ServiceError) {
      return .success(try await answer(to: selector, in: scope, including: sequence, of: source))
    } catch {
      switch error.code {
      case .invalidArgument, .internalFault: return .success(nil)
      default: return .failure(error)
      }
    }
  }
}
