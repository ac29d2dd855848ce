import NIOCore

extension NIODeadline {
  /// Whether a time that began at this moment is over.
  func isOver(_ duration: Duration, at now: NIODeadline) -> Bool {
    (now - self).nanoseconds >= duration.nanoseconds
  }
}

// Which connection, and when another is made.
extension ConnectionPoolState {
  var hasOpen: Bool {
    slots.contains { if case .open = $0.phase { true } else { false } }
  }

  /// Nothing is open, and nothing on its way to be.
  var isDown: Bool {
    !hasOpen && !slots.contains(where: \.isConnecting)
  }

  /// The open connection with the fewest calls; those of the same server, and last the same one,
  /// only when there is no other.
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
    // Where nothing is open yet, the first connections are on their way.
    if best.map({ $0.rank >= limits.busyCalls }) ?? hasOpen {
      fillOneSlot(&actions)
    }
    guard let (lease, _) = best, let slot = members[lease.member]?.slot else { return nil }
    turn = slot + 1
    members[lease.member]?.callStarted(at: now)
    calls += 1
    return lease
  }

  /// Each server gets its first connection.
  mutating func fillFirstSlots(_ actions: inout [Action]) {
    for slot in 0..<addressCount {
      if case .empty = slots[slot].phase { connect(slot, &actions) }
    }
  }

  private mutating func fillOneSlot(_ actions: inout [Action]) {
    let empty = slots.firstIndex { if case .empty = $0.phase { true } else { false } }
    if let empty { connect(empty, &actions) }
  }

  /// Fills a slot again for those who wait.
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

  /// Remembers when the last connection went. Whoever waits is told when that is long ago.
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
