package import EntitlementDomain
package import EntitlementStore
import Synchronization
import Workers

/// Everything that is stored about an account. It has an export permit until it
/// is released.
package struct CustomerExport: Sendable {
  package let account: AccountExport
  package let scope: AppScope
  /// The rows of imports that name it (R89), at most ``ExportLimits/importRows`` for each of its ids.
  package let importRows: [AccountImportRow]
  /// The state at the time of the export.
  package let state: CustomerState
  private let permit: ExportPermit

  init(
    _ account: AccountExport, in scope: AppScope, importRows: [AccountImportRow],
    state: CustomerState, permit: ExportPermit
  ) {
    self.account = account
    self.scope = scope
    self.importRows = importRows
    self.state = state
    self.permit = permit
  }

  /// To be called whenever the client has read something: see ``ExportLimits/patience``.
  package func wasRead() { permit.wasRead() }

  /// - Parameter end: ends the export, when it has to give its permit to another one. Called at most
  ///   once, on any thread. Without it, the export keeps its permit.
  package func givesWay(by end: @escaping @Sendable () -> Void) { permit.givesWay(by: end) }
}

/// Limits of account exports.
package struct ExportLimits: Hashable, Sendable {
  /// The number of concurrent exports. Each keeps a whole account in memory until the client has
  /// read it, and the store reads each over a connection that otherwise serves writes.
  package var exports: Int

  /// The longest time in which the client may read an export. It bounds how long a slow client
  /// keeps a permit. 100 MB, far more than most accounts have, fit at 3 Mbit/s.
  package var time: Duration

  /// After how long an export that its client does not read gives its permit to another one: longer than
  /// a network is disturbed for a moment, shorter than people wait.
  package var patience: Duration

  /// Rows of imports in an export, for each id of the account: far more than a team has of one customer.
  package static let importRows = 10_000

  package init(
    exports: Int = 3, time: Duration = .seconds(300), patience: Duration = .seconds(5)
  ) {
    self.exports = exports
    self.time = time
    self.patience = patience
  }
}

/// Limits the number of concurrent exports. A source leaves one permit to others. When all are taken,
/// one that its client does not read gives way: of the source itself that asks, or of one that has
/// more than it.
final class ExportPermits: Sendable {
  fileprivate struct Holder {
    let source: WorkSource
    var lastRead: Duration
    var end: (@Sendable () -> Void)?
  }

  private struct State {
    var holders: [UInt64: Holder] = [:]
    var last: UInt64 = 0

    func count(of source: WorkSource) -> Int { holders.values.count { $0.source == source } }
  }

  private enum Admission {
    case admitted(UInt64, ends: (@Sendable () -> Void)?)
    case refused(String)
  }

  private let limits: ExportLimits
  private let timer: ServiceTimer
  private let state = Mutex(State())

  init(_ limits: ExportLimits, timer: ServiceTimer) {
    self.limits = limits
    self.timer = timer
  }

  /// - Throws: ``ServiceError/Code-swift.enum/tooManyExports`` when the source gets no permit.
  func acquire(for source: WorkSource) throws(ServiceError) -> ExportPermit {
    let now = timer.now()
    let admission = state.withLock { state -> Admission in
      var ends: (@Sendable () -> Void)?
      let isFull = state.holders.count >= limits.exports
      if isFull || state.count(of: source) >= share(of: source) {
        guard let id = unread(in: state, for: source, within: !isFull, at: now) else {
          return .refused(
            isFull
              ? "\(limits.exports) exports are running already"
              : "\(share(of: source)) exports of the caller are running already")
        }
        ends = state.holders.removeValue(forKey: id)?.end
      }
      state.last += 1
      state.holders[state.last] = Holder(source: source, lastRead: now)
      return .admitted(state.last, ends: ends)
    }
    switch admission {
    case .refused(let reason): throw ServiceError(.tooManyExports, reason)
    case .admitted(let id, let ends):
      ends?()
      return ExportPermit(id, of: self)
    }
  }

  /// One permit is left to others. The server itself bounds its own exports.
  private func share(of source: WorkSource) -> Int {
    source == .server ? limits.exports : max(1, limits.exports - 1)
  }

  /// The export that was read least recently, of those that have to give way to one of `source`.
  ///
  /// - Parameter isOwn: whether only exports of `source` itself are considered.
  private func unread(
    in state: State, for source: WorkSource, within isOwn: Bool, at now: Duration
  ) -> UInt64? {
    let own = state.count(of: source)
    return state.holders.filter { _, holder in
      guard holder.end != nil, now - holder.lastRead >= limits.patience else { return false }
      return holder.source == source || !isOwn && state.count(of: holder.source) > own
    }.min { ($0.value.lastRead, $0.key) < ($1.value.lastRead, $1.key) }?.key
  }

  fileprivate func update(_ id: UInt64, _ change: (inout Holder, Duration) -> Void) {
    let now = timer.now()
    state.withLock { state in
      guard var holder = state.holders[id] else { return }
      change(&holder, now)
      state.holders[id] = holder
    }
  }

  /// One that gave way has no permit any more.
  fileprivate func release(_ id: UInt64) {
    _ = state.withLock { $0.holders.removeValue(forKey: id) }
  }
}

/// The right to run one export, until it is deallocated.
final class ExportPermit: Sendable {
  private let id: UInt64
  private let permits: ExportPermits

  fileprivate init(_ id: UInt64, of permits: ExportPermits) {
    self.id = id
    self.permits = permits
  }

  deinit {
    permits.release(id)
  }

  func wasRead() {
    permits.update(id) { $0.lastRead = $1 }
  }

  func givesWay(by end: @escaping @Sendable () -> Void) {
    permits.update(id) { holder, now in
      holder.end = end
      holder.lastRead = now
    }
  }
}
