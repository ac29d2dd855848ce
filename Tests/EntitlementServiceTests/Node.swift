import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging

/// One of several servers on the same store: a reader with its own cache and follower.
final class Node: Sendable {
  let timer = MovableTimer()
  let watermark: FeedWatermark
  let reader: CustomerReader
  let follower: ChangeFollower
  let watch: CustomerWatch
  let records: CustomerRecords
  let grants: GrantService
  let links: LinkService
  private let task: Task<Void, Never>

  static let limits = FollowingLimits(pause: .zero)

  init(
    _ bench: ServiceBench, store: (any EntitlementStore)? = nil, limits: WatchLimits = .init(),
    following: FollowingLimits = limits
  ) {
    let store = store ?? bench.store
    let watermark = FeedWatermark(staleness: following.staleness, timer: timer.timer)
    self.watermark = watermark
    let reader = CustomerReader(
      store: store, catalog: bench.holder, clock: bench.clock.clock, watermark: watermark,
      cacheBytes: 1 << 20, limits: .forTests, encode: StateCoding.encode)
    self.reader = reader
    let follower = ChangeFollower(
      store: store, watermark: watermark, timer: timer.timer, limits: following,
      logger: bench.log.logger, changed: { reader.customersChanged($0) },
      cleared: { reader.allChanged() })
    self.follower = follower
    watch = CustomerWatch(
      store: store, reader: reader, watermark: watermark, timer: timer.timer, limits: limits)
    let changes = AuditedChange(
      store: store, catalog: bench.holder, clock: bench.clock.clock, counters: bench.counters,
      customersChanged: { reader.customersChanged($0) })
    links = LinkService(store: store, catalog: bench.holder, changes: changes)
    records = CustomerRecords(
      store: store, catalog: bench.holder, clock: bench.clock.clock, changes: changes)
    grants = GrantService(
      store: store, catalog: bench.holder, clock: bench.clock.clock, counters: bench.counters,
      customersChanged: { reader.customersChanged($0) })
    task = Task { await follower.run() }
  }

  /// Runs `body` while the follower runs, and stops it afterwards.
  static func run(
    _ bench: ServiceBench, store: (any EntitlementStore)? = nil, limits: WatchLimits = .init(),
    following: FollowingLimits = limits, _ body: (Node) async throws -> Void
  ) async throws {
    let node = Node(bench, store: store, limits: limits, following: following)
    do {
      // The ticker has started.
      await node.timer.sleepersBegun(1)
      try await node.followed(to: 0)
      try await body(node)
      await node.stop()
    } catch {
      await node.stop()
      throw error
    }
  }

  private func stop() async {
    task.cancel()
    await task.value
  }

  /// Returns when the follower has reached a position.
  func followed(to position: Int64) async throws {
    try await wait { self.watermark.position >= position }
  }

  /// Returns when a condition holds that the follower causes.
  func wait(until isThere: () -> Bool) async throws {
    while !isThere() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// Advances the timer by a second and waits for the poll.
  func second() async throws {
    let polls = follower.statistics.polls
    await timer.sleepersBegun(1)
    timer.advance(by: .seconds(1))
    try await wait { self.follower.statistics.polls > polls }
  }

  func query(_ account: AccountID, _ consistency: Consistency = .minimizeLatency) -> CustomerQuery {
    CustomerQuery(
      selector: .account(account), scope: ServiceBench.scope, consistency: consistency)
  }

  func isCached(_ account: AccountID) -> Bool { reader.cachedAnswer(to: query(account)) != nil }

  @discardableResult
  func state(of account: AccountID, _ consistency: Consistency = .minimizeLatency) async throws
    -> CustomerState
  {
    try await reader.answer(to: query(account, consistency)).state
  }

  @discardableResult
  func grant(_ entitlement: EntitlementID = "pro", to account: AccountID) async throws -> Int64 {
    try await grants.add(
      GrantRequest(
        scope: ServiceBench.scope, accountID: account, entitlementID: entitlement,
        reason: "a test", onBehalfOf: "tests")
    ).customer.revision
  }
}
