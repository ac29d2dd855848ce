import EntitlementDomain
import EntitlementStore
import NIOCore

/// One watch of the change feed, for one task. It takes up its place until it is released.
package final class Watcher {
  private let watch: CustomerWatch
  private let request: WatchRequest
  /// Everything up to here was told, or is not asked for.
  private var cursor: WatchCursor
  /// Changes that were read and are not told yet.
  private var pending: ArraySlice<Change> = []
  /// Where the feed is read on, after the pending ones.
  private var readCursor: WatchCursor
  /// The beginning of following since which the cursors are known to be in the feed.
  private var beginning: Int64
  private var lastTold: Duration?

  init(
    _ watch: CustomerWatch, _ request: WatchRequest, cursor: WatchCursor,
    beginning: Int64
  ) {
    self.watch = watch
    self.request = request
    self.cursor = cursor
    readCursor = cursor
    self.beginning = beginning
  }

  deinit {
    watch.watchEnded()
  }

  /// The next items, at least one, in commit order; waits for them. The first call tells the cursor
  /// alone.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/cancelled`` when the task is cancelled;
  ///   ``ServiceError/Code-swift.enum/outOfRange`` when changes after the last cursor were trimmed, or
  ///   the database has lost that cursor; and what else the store throws: whoever watches goes on from
  ///   the last cursor.
  package func next() async throws(ServiceError) -> [WatchItem] {
    guard lastTold != nil else { return told([cursorItem]) }
    while true {
      if Task.isCancelled { throw ServiceError(.cancelled, "the caller does not wait any more") }
      // Counted before the look: what comes after it is not waited for.
      let turns = watch.horizon.turns
      try await checkHistory()
      let hasRead = pending.isEmpty ? try await read() : true
      if !pending.isEmpty { return told(try await items()) }
      if isHeartbeatDue { return told([cursorItem]) }
      // More may be there already than was read, none of it asked for.
      if !hasRead { await watch.horizon.turn(after: turns) }
    }
  }

  private var cursorItem: WatchItem {
    WatchItem(cursor: cursor, change: nil, state: nil)
  }

  private var isHeartbeatDue: Bool {
    lastTold.map { watch.timer.now() - $0 >= watch.limits.heartbeat } ?? true
  }

  private func told(_ items: [WatchItem]) -> [WatchItem] {
    lastTold = watch.timer.now()
    watch.told(items.count)
    return items
  }

  /// Where following has begun anew, the database may have lost what was read.
  private func checkHistory() async throws(ServiceError) {
    let latest = watch.horizon.beginningCount
    guard latest != beginning else { return }
    do {
      try await watch.store.checkFeedReaches(cursor)
    } catch {
      throw ServiceError(error)
    }
    pending = []
    readCursor = cursor
    beginning = latest
  }

  /// Reads a page of the feed, and keeps what is asked for.
  ///
  /// - Returns: whether there was anything.
  private func read() async throws(ServiceError) -> Bool {
    let horizon = watch.horizon.position
    guard horizon > readCursor.position else { return false }
    let changes: [Change]
    do {
      changes = try await watch.recent.changes(
        after: readCursor, horizon: horizon, beginning: beginning)
    } catch {
      throw ServiceError(error)
    }
    guard let last = changes.last else { return false }
    pending = changes.filter { request.asks(for: $0) }[...]
    readCursor = WatchCursor(after: last)
    if pending.isEmpty { cursor = readCursor }
    return true
  }

  /// The first of the pending changes, with their states.
  private func items() async throws(ServiceError) -> [WatchItem] {
    let batch = pending.prefix(watch.limits.batch)
    let states = request.isWithoutStates ? [:] : try await states(after: batch)
    pending = pending.dropFirst(batch.count)
    return batch.map { change in
      // The last one also moves over what follows and is not asked for.
      let isLast = pending.isEmpty && change.sequence == batch.last?.sequence
      cursor = isLast ? readCursor : WatchCursor(after: change)
      return WatchItem(
        cursor: cursor, change: change, state: change.subject.flatMap { states[$0] })
    }
  }

  /// One state for each customer, with the latest of its changes in it: so with the earlier ones too.
  private func states(after changes: ArraySlice<Change>) async throws(ServiceError)
    -> [CustomerSubject: ByteBuffer]
  {
    var latest: [CustomerSubject: Int64] = [:]
    for change in changes {
      if let subject = change.subject { latest[subject] = change.sequence }
    }
    let reader = watch.reader
    let states = await withTaskGroup(
      of: (CustomerSubject, Result<ByteBuffer?, ServiceError>).self
    ) { group in
      var states: [(CustomerSubject, Result<ByteBuffer?, ServiceError>)] = []
      var started = 0
      for (subject, sequence) in latest {
        if started >= watch.limits.loads, let state = await group.next() { states.append(state) }
        started += 1
        group.addTask { (subject, await reader.state(of: subject, including: sequence)) }
      }
      for await state in group { states.append(state) }
      return states
    }
    var found: [CustomerSubject: ByteBuffer] = [:]
    for (subject, state) in states { found[subject] = try state.get() }
    return found
  }
}

extension CustomerReader {
  /// - Returns: nil when the catalog does not name the app or the environment any more, and when the
  ///   state cannot be told: one customer's trouble must not end the watch of all others, who would
  ///   meet it again at each resumption.
  fileprivate func state(of subject: CustomerSubject, including sequence: Int64) async
    -> Result<ByteBuffer?, ServiceError>
  {
    let (selector, scope): (CustomerSelector, AppScope) =
      switch subject {
      case .account(let scope, let id): (.account(id), scope)
      case .unlinkedChain(let scope, let id): (.originalTransaction(id), scope)
      }
    do throws(ServiceError) {
      return .success(
        try await answer(to: selector, in: scope, including: sequence).encoded)
    } catch {
      switch error.code {
      case .invalidArgument, .internalFault: return .success(nil)
      default: return .failure(error)
      }
    }
  }
}
