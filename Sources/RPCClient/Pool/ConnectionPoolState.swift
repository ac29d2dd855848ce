import NIOCore

/// Which connection takes the next call, which are to be made, and who waits. No I/O and no clock:
/// the pool reports what happened and carries out what is returned.
///
/// There is a slot for each connection that may be. The first of each address is filled with the
/// first call, so that the load spreads over all servers; the others when those that are open are
/// busy. A slot that lost its connection is filled again by the next call; one that could not be
/// filled, or whose connection ended without an answer, only after a pause.
struct ConnectionPoolState<Connection: Sendable>: Sendable {
  typealias WaiterID = UInt64

  struct Lease: Sendable {
    let connection: Connection
    let member: MemberID
    /// Index of the server's address.
    let address: Int
  }

  struct MemberID: Hashable, Sendable {
    let rawValue: UInt64
  }

  enum Action: Sendable {
    case connect(slot: Int, address: Int)
    /// Tell ``pauseEnded(slot:)`` after a pause that grows with the failures.
    case pause(slot: Int, failures: Int)
    case close(Connection)
    case resume(WaiterID, Result<Lease, RPCClientError>)
    /// The last call of a pool that is closing has ended.
    case drained
  }

  enum Decision: Sendable {
    case use(Lease)
    case wait
    case refuse(RPCClientError)
  }

  /// What a call says of its connection.
  enum Outcome: Sendable {
    /// It answered.
    case answered
    /// The deadline passed, and no answer came.
    case silent
    /// The server is about to stop.
    case draining
    /// Nothing: given up by its caller, or the connection is closed, which is told apart.
    case unknown
  }

  struct Slot: Sendable {
    enum Phase: Sendable {
      case empty
      case connecting
      case open(MemberID)
      /// After a failure.
      case pausing
    }

    let address: Int
    var phase = Phase.empty
    /// In a row.
    var failures = 0

    var isConnecting: Bool {
      if case .connecting = phase { true } else { false }
    }
  }

  struct Member: Sendable {
    let connection: Connection
    let slot: Int
    var calls = 0
    /// Calls in a row whose deadline passed without an answer.
    var silentCalls = 0
    var hasAnswered = false
    /// It has left its slot, and is closed after its last call.
    var isLeaving = false
  }

  let limits: ConnectionPoolLimits
  let addressCount: Int
  var slots: [Slot]
  var members: [MemberID: Member] = [:]
  var waiters = CircularBuffer<WaiterID>()
  var nextMember: UInt64 = 0
  /// Where the search for the least busy begins, so that equally busy ones take turns.
  var turn = 0
  /// Since when there was no connection, as far as is known.
  var downSince: NIODeadline?
  /// Why the last connection could not be made.
  var lastFailure = RPCClientError(.unreachable, "no connection could be made in time")
  var isClosing = false
  /// Calls in flight on all members.
  var calls = 0

  init(addressCount: Int, limits: ConnectionPoolLimits) {
    self.limits = limits
    self.addressCount = addressCount
    slots = (0..<addressCount * limits.connectionsPerAddress).map {
      Slot(address: $0 % addressCount)
    }
  }

  // MARK: Calls

  /// A connection for a call, if there is one.
  ///
  /// - Parameters:
  ///   - avoided: where the call failed before: another server is better, else another connection.
  ///   - actions: to be carried out.
  mutating func leaseAtOnce(avoiding avoided: Lease?, _ actions: inout [Action]) -> Lease? {
    if isClosing || !waiters.isEmpty {
      return nil
    }
    fillFirstSlots(&actions)
    return leaseLeastBusy(avoiding: avoided, &actions)
  }

  /// The same for a call that can wait under this name.
  mutating func callArrived(
    _ waiter: WaiterID, avoiding avoided: Lease? = nil, now: NIODeadline,
    _ actions: inout [Action]
  ) -> Decision {
    if isClosing {
      return .refuse(.clientClosed)
    }
    if let lease = leaseAtOnce(avoiding: avoided, &actions) {
      return .use(lease)
    }
    if isDown, let downSince, downSince.isOver(limits.waitingTime, at: now) {
      return .refuse(lastFailure)
    }
    if waiters.count >= limits.waitingCalls {
      return .refuse(.tooManyWaiting(limits.waitingCalls))
    }
    waiters.append(waiter)
    return .wait
  }

  /// A second attempt is to go over another connection than the first.
  ///
  /// - Returns: nil when there is none at once.
  mutating func otherConnection(than first: Lease, _ actions: inout [Action]) -> Lease? {
    isClosing ? nil : leaseLeastBusy(avoiding: first, isStrict: true, &actions)
  }

  /// A waiting call is given up by its caller, or has waited for long enough.
  ///
  /// - Returns: why it may not wait for longer; nil when it does not wait any more.
  mutating func waitEnded(_ waiter: WaiterID) -> RPCClientError? {
    guard let index = waiters.firstIndex(of: waiter) else {
      return nil
    }
    waiters.remove(at: index)
    return hasOpen ? .connectionsFull(after: limits.waitingTime) : lastFailure
  }

  mutating func callEnded(_ lease: Lease, _ outcome: Outcome, _ actions: inout [Action]) {
    calls -= 1
    note(outcome, of: lease.member, &actions)
    members[lease.member]?.calls -= 1
    if let member = members[lease.member], member.isLeaving, member.calls == 0 {
      members[lease.member] = nil
      actions.append(.close(member.connection))
    }
    serveWaiters(&actions)
    if isClosing, calls == 0 {
      actions.append(.drained)
    }
  }

  private mutating func note(
    _ outcome: Outcome, of id: MemberID, _ actions: inout [Action]
  ) {
    guard let member = members[id], !member.isLeaving else {
      return
    }
    switch outcome {
    case .answered:
      members[id]?.silentCalls = 0
      if !member.hasAnswered {
        members[id]?.hasAnswered = true
        slots[member.slot].failures = 0
      }
    case .silent:
      members[id]?.silentCalls += 1
      if member.silentCalls + 1 >= limits.silentCalls {
        leave(id, member, &actions)
      }
    case .draining:
      leave(id, member, &actions)
    case .unknown:
      break
    }
  }

  /// No more calls for this connection; those in flight go on.
  private mutating func leave(_ id: MemberID, _ member: Member, _ actions: inout [Action]) {
    members[id]?.isLeaving = true
    pause(member.slot, &actions)
  }

  // MARK: Connections

  /// A connection is made before there is a call for it.
  ///
  /// - Returns: whether its slot was empty.
  mutating func connectionStarted(slot: Int) -> Bool {
    guard !isClosing, case .empty = slots[slot].phase else {
      return false
    }
    slots[slot].phase = .connecting
    return true
  }

  /// - Returns: its name; nil when it is not needed any more.
  mutating func connected(
    slot: Int, _ connection: Connection, _ actions: inout [Action]
  ) -> MemberID? {
    if isClosing {
      actions.append(.close(connection))
      return nil
    }
    let id = MemberID(rawValue: nextMember)
    nextMember += 1
    members[id] = Member(connection: connection, slot: slot)
    slots[slot].phase = .open(id)
    downSince = nil
    serveWaiters(&actions)
    return id
  }

  mutating func connectFailed(
    slot: Int, _ error: RPCClientError, now: NIODeadline, _ actions: inout [Action]
  ) {
    lastFailure = error
    pause(slot, &actions)
    noteOutage(now, &actions)
  }

  /// A connection is closed, by whichever side.
  mutating func connectionClosed(
    _ id: MemberID, now: NIODeadline, _ actions: inout [Action]
  ) {
    guard let member = members.removeValue(forKey: id), !member.isLeaving else {
      return
    }
    if member.hasAnswered {
      slots[member.slot].phase = .empty
      refill(member.slot, &actions)
    } else {
      // A server that takes connections only to close them is not to be asked without a pause.
      lastFailure = RPCClientError(
        .unreachable, "the server closed the connection without an answer")
      pause(member.slot, &actions)
    }
    noteOutage(now, &actions)
  }

  mutating func pauseEnded(slot: Int, _ actions: inout [Action]) {
    guard case .pausing = slots[slot].phase else {
      return
    }
    slots[slot].phase = .empty
    refill(slot, &actions)
  }

  // MARK: Closing

  /// No more calls are taken.
  mutating func closeStarted(_ actions: inout [Action]) {
    isClosing = true
    for waiter in waiters {
      actions.append(.resume(waiter, .failure(.clientClosed)))
    }
    waiters.removeAll()
    if calls == 0 {
      actions.append(.drained)
    }
  }

  /// Calls in flight have had their time.
  mutating func closeEnded(_ actions: inout [Action]) {
    for member in members.values {
      actions.append(.close(member.connection))
    }
    members.removeAll()
  }
}
