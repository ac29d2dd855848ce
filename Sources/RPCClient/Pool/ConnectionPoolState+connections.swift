import NIOCore

// Connections that open and close, and the end of the pool.
extension ConnectionPoolState {
  /// The caller begins to connect, before any call needs the connection.
  ///
  /// - Returns: whether the slot was empty; otherwise the caller must not connect.
  mutating func connectionStarted(slot: Int) -> Bool {
    guard !isClosing, case .empty = slots[slot].phase else {
      return false
    }
    slots[slot].phase = .connecting
    return true
  }

  /// A connection is open.
  ///
  /// - Returns: its id; nil when the pool is closing.
  mutating func connected(
    slot: Int, _ connection: Connection, now: NIODeadline, _ actions: inout [Action]
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
    serveWaiters(now: now, &actions)
    return id
  }

  mutating func connectFailed(
    slot: Int, _ error: RPCClientError, now: NIODeadline, _ actions: inout [Action]
  ) {
    lastFailure = error
    pause(slot, &actions)
    noteOutage(now, &actions)
  }

  /// Either side has closed a connection.
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
      // A server that closes connections without an answer is tried again only after a pause.
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

  /// Refuses new calls from now on.
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

  /// The wait for the calls in flight is over.
  mutating func closeEnded(_ actions: inout [Action]) {
    for member in members.values {
      actions.append(.close(member.connection))
    }
    members.removeAll()
  }
}
