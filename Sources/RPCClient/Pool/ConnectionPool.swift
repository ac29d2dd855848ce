import Framing
import NIOCore
import NIOPosix
import Synchronization

/// The connections of one client. ``ConnectionPoolState`` decides, and the pool performs the
/// actions.
///
/// The lock is held for decisions only, never during I/O or a wait.
final class ConnectionPool: Sendable {
  typealias State = ConnectionPoolState<RPCConnection>
  typealias Lease = State.Lease
  typealias Waiter = CheckedContinuation<Result<Lease, RPCClientError>, Never>

  struct Shared {
    var state: State
    var waiters: [State.WaiterID: Waiter] = [:]
    var nextWaiter: State.WaiterID = 0
    /// Callers of `close(within:)` that wait for the calls in flight.
    var closers: [CheckedContinuation<Void, Never>] = []
    var isDrained = false
    var streams: [ObjectIdentifier: StreamConnection] = [:]
    var nextStreamAddress = 0
  }

  let addresses: [ServerAddress]
  let tls: ClientTLS?
  let token: ClientToken?
  let connectTimeout: Duration
  let limits: RPCLimits
  private let waitingTime: Duration
  private let reconnecting: Backoff
  let eventLoopGroup: any EventLoopGroup
  let shared: Mutex<Shared>

  init(
    addresses: [ServerAddress], tls: ClientTLS?, token: ClientToken?, connectTimeout: Duration,
    pool: ConnectionPoolLimits, reconnecting: Backoff, limits: RPCLimits,
    eventLoopGroup: any EventLoopGroup
  ) {
    self.addresses = addresses
    self.tls = tls
    self.token = token
    self.connectTimeout = connectTimeout
    self.limits = limits
    self.waitingTime = pool.waitingTime
    self.reconnecting = reconnecting
    self.eventLoopGroup = eventLoopGroup
    shared = Mutex(Shared(state: State(addressCount: addresses.count, limits: pool)))
  }

  deinit {
    shared.withLock { shared in
      for member in shared.state.members.values { member.connection.closeSoon() }
    }
  }

  // MARK: Calls

  /// Leases a connection for one call. ``callEnded(_:_:)`` returns it.
  ///
  /// - Parameters:
  ///   - deadline: the deadline of the call.
  ///   - avoided: the connection of the previous, failed attempt.
  func lease(
    until deadline: NIODeadline, avoiding avoided: Lease? = nil
  ) async throws(RPCClientError) -> Lease {
    let lease = decide { state, actions in
      state.leaseAtOnce(avoiding: avoided, now: .now(), &actions)
    }
    if let lease { return lease }
    return try await wait(until: deadline, avoiding: avoided).get()
  }

  /// Leases another connection than that of the first attempt, without a wait.
  func otherConnection(than first: Lease) -> Lease? {
    decide { state, actions in state.otherConnection(than: first, now: .now(), &actions) }
  }

  func callEnded(_ lease: Lease, _ outcome: State.Outcome) {
    decide { state, actions in state.callEnded(lease, outcome, now: .now(), &actions) }
  }

  private func wait(
    until deadline: NIODeadline, avoiding avoided: Lease?
  ) async -> Result<Lease, RPCClientError> {
    let waiter = shared.withLock { shared in
      shared.nextWaiter += 1
      return shared.nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        join(as: waiter, continuation, until: deadline, avoiding: avoided)
        // The cancellation handler may have run before the waiter was registered.
        if Task.isCancelled { endWait(of: waiter, .cancelled.unsent) }
      }
    } onCancel: {
      endWait(of: waiter, .cancelled.unsent)
    }
  }

  private func join(
    as waiter: State.WaiterID, _ continuation: Waiter, until deadline: NIODeadline,
    avoiding avoided: Lease?
  ) {
    var actions: [State.Action] = []
    let now = NIODeadline.now()
    let decision = shared.withLock { shared in
      let decision = shared.state.callArrived(waiter, avoiding: avoided, now: now, &actions)
      if case .wait = decision { shared.waiters[waiter] = continuation }
      return decision
    }
    perform(actions)
    switch decision {
    case .use(let lease):
      continuation.resume(returning: .success(lease))
    case .refuse(let error):
      continuation.resume(returning: .failure(error))
    case .wait:
      let limit = now + .nanoseconds(waitingTime.nanoseconds)
      eventLoopGroup.next().scheduleTask(deadline: min(limit, deadline)) { [weak self] in
        self?.endWait(of: waiter, deadline < limit ? .deadlineExceeded.unsent : nil)
      }
    }
  }

  /// - Parameter reason: nil when the wait has timed out.
  private func endWait(of waiter: State.WaiterID, _ reason: RPCClientError?) {
    let error = shared.withLock { $0.state.waitEnded(waiter) }
    if let error { resume(waiter, .failure(reason ?? error)) }
  }

  private func resume(_ waiter: State.WaiterID, _ result: Result<Lease, RPCClientError>) {
    shared.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: result)
  }

  // MARK: Decisions

  @discardableResult
  func decide<Value: Sendable>(
    _ body: (inout State, inout [State.Action]) -> Value
  ) -> Value {
    var actions: [State.Action] = []
    let value = shared.withLock { body(&$0.state, &actions) }
    perform(actions)
    return value
  }

  func perform(_ actions: [State.Action]) {
    for action in actions {
      switch action {
      case .connect(let slot, let address):
        Task { [weak self] in await self?.connect(slot, to: address) }
      case .pause(let slot, let failures):
        let pause = reconnecting.longDelay(after: failures)
        eventLoopGroup.next().scheduleTask(in: .nanoseconds(pause.nanoseconds)) { [weak self] in
          self?.decide { state, actions in state.pauseEnded(slot: slot, &actions) }
        }
      case .close(let connection):
        connection.closeSoon()
      case .resume(let waiter, let result):
        resume(waiter, result)
      case .drained:
        resumeClosers()
      }
    }
  }
}
