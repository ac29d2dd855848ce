import NIOCore

extension NIODeadline {
  /// Whether `duration` has passed since this time.
  func isOver(_ duration: Duration, at now: NIODeadline) -> Bool {
    (now - self).nanoseconds >= duration.nanoseconds
  }
}

// The choice of a connection, and when to open another one.
extension ConnectionPoolState {
  var hasOpen: Bool {
    slots.contains { if case .open = $0.phase { true } else { false } }
  }

  /// No connection is open, and no attempt to connect is in flight.
  var isDown: Bool {
    !hasOpen && !slots.contains(where: \.isConnecting)
  }

  /// Leases the open connection with the fewest calls. Connections to the server of `avoided` come
  /// last, and `avoided` itself after them.
  ///
  /// - Parameter isStrict: never leases `avoided` itself.
  mutating func leaseLeastBusy(
    avoiding avoided: Lease? = nil, isStrict: Bool = false, now: NIODeadline,
    _ actions: inout [Action]
  ) -> Lease? {
    var best: (lease: Lease, rank: Int)?
    for offset in slots.indices {
      let slot = (turn + offset) % slots.count
      guard case .open(let id) = slots[slot].phase, let member = members[id],
        member.calls < limits.callsPerConnection
      else { continue }
      var rank = member.calls
      if let avoided {
        if id == avoided.member {
          if isStrict { continue }
          rank += 2 * limits.callsPerConnection
        } else if slots[slot].address == avoided.address {
          rank += limits.callsPerConnection
        }
      }
      if best.map({ rank < $0.rank }) ?? true {
        best = (
          Lease(connection: member.connection, member: id, address: slots[slot].address), rank
        )
        if rank == 0 { break }
      }
    }
    // While no connection is open, fillFirstSlots has started the first ones.
    if best.map({ $0.rank >= limits.busyCalls }) ?? hasOpen {
      fillOneSlot(&actions)
    }
    guard let (lease, _) = best, let slot = members[lease.member]?.slot else { return nil }
    turn = slot + 1
    members[lease.member]?.callStarted(at: now)
    calls += 1
    return lease
  }

  /// Opens the first connection to each server.
  mutating func fillFirstSlots(_ actions: inout [Action]) {
    for slot in 0..<addressCount {
      if case .empty = slots[slot].phase { connect(slot, &actions) }
    }
  }

  private mutating func fillOneSlot(_ actions: inout [Action]) {
    let empty = slots.firstIndex { if case .empty = $0.phase { true } else { false } }
    if let empty { connect(empty, &actions) }
  }

  /// Connects again if calls wait.
  mutating func refill(_ slot: Int, _ actions: inout [Action]) {
    if !waiters.isEmpty { connect(slot, &actions) }
  }

  private mutating func connect(_ slot: Int, _ actions: inout [Action]) {
    slots[slot].phase = .connecting
    actions.append(.connect(slot: slot, address: slots[slot].address))
  }

  mutating func pause(_ slot: Int, _ actions: inout [Action]) {
    slots[slot].phase = .pausing
    slots[slot].failures += 1
    if isClosing { return }
    actions.append(.pause(slot: slot, failures: slots[slot].failures))
  }

  mutating func serveWaiters(now: NIODeadline, _ actions: inout [Action]) {
    while !waiters.isEmpty, let lease = leaseLeastBusy(now: now, &actions) {
      actions.append(.resume(waiters.removeFirst(), .success(lease)))
    }
  }

  /// Records the start of an outage. Fails all waiting calls when it has lasted for the waiting
  /// time.
  mutating func noteOutage(_ now: NIODeadline, _ actions: inout [Action]) {
    guard isDown else { return }
    let since = downSince ?? now
    downSince = since
    guard since.isOver(limits.waitingTime, at: now) else { return }
    for waiter in waiters {
      actions.append(.resume(waiter, .failure(lastFailure)))
    }
    waiters.removeAll()
  }
}
