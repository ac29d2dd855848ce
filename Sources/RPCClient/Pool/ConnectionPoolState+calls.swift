import NIOCore

// Calls that start, wait and end.
extension ConnectionPoolState {
  /// Leases a connection for a call, if one has capacity.
  ///
  /// - Parameters:
  ///   - avoided: the connection of the previous, failed attempt. Another server is preferred, then
  ///     another connection.
  ///   - actions: the pool performs the appended actions.
  mutating func leaseAtOnce(
    avoiding avoided: Lease?, now: NIODeadline, _ actions: inout [Action]
  ) -> Lease? {
    if isClosing || !waiters.isEmpty {
      return nil
    }
    fillFirstSlots(&actions)
    return leaseLeastBusy(avoiding: avoided, now: now, &actions)
  }

  /// Leases a connection for a call, or queues the call as `waiter`.
  mutating func callArrived(
    _ waiter: WaiterID, avoiding avoided: Lease? = nil, now: NIODeadline,
    _ actions: inout [Action]
  ) -> Decision {
    if isClosing {
      return .refuse(.clientClosed)
    }
    if addressCount == 0 {
      return .refuse(.noAddress)
    }
    if let lease = leaseAtOnce(avoiding: avoided, now: now, &actions) {
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

  /// Leases a connection for a hedge: another one than that of the first attempt.
  ///
  /// - Returns: nil when no other connection has capacity.
  mutating func otherConnection(
    than first: Lease, now: NIODeadline, _ actions: inout [Action]
  ) -> Lease? {
    isClosing ? nil : leaseLeastBusy(avoiding: first, isStrict: true, now: now, &actions)
  }

  /// A waiting call was cancelled, or its wait has timed out.
  ///
  /// - Returns: the error for a timeout; nil when the call was not waiting any more.
  mutating func waitEnded(_ waiter: WaiterID) -> RPCClientError? {
    guard let index = waiters.firstIndex(of: waiter) else {
      return nil
    }
    waiters.remove(at: index)
    return hasOpen ? .connectionsFull(after: limits.waitingTime) : lastFailure
  }

  mutating func callEnded(
    _ lease: Lease, _ outcome: Outcome, now: NIODeadline, _ actions: inout [Action]
  ) {
    calls -= 1
    note(outcome, of: lease.member, now: now, &actions)
    members[lease.member]?.callEnded(at: now)
    if let member = members[lease.member], member.isLeaving, member.calls == 0 {
      members[lease.member] = nil
      actions.append(.close(member.connection))
    }
    serveWaiters(now: now, &actions)
    if isClosing, calls == 0 {
      actions.append(.drained)
    }
  }

  private mutating func note(
    _ outcome: Outcome, of id: MemberID, now: NIODeadline, _ actions: inout [Action]
  ) {
    guard let member = members[id], !member.isLeaving else {
      return
    }
    switch outcome {
    case .answered:
      members[id]?.answered(at: now)
      if !member.hasAnswered {
        slots[member.slot].failures = 0
      }
    case .silent:
      members[id]?.silentCalls += 1
      if member.silentCalls + 1 >= limits.silentCalls {
        leave(id, member, &actions)
      }
    case .givenUp:
      members[id]?.givenUpCalls += 1
      let time = member.unansweredTime.total(at: now).nanoseconds
      if member.givenUpCalls + 1 >= limits.givenUpCalls, time >= limits.givenUpTime.nanoseconds {
        leave(id, member, &actions)
      }
    case .draining:
      leave(id, member, &actions)
    case .closed:
      connectionClosed(id, now: now, &actions)
    case .unknown:
      break
    }
  }

  /// Takes a connection out of use. Its calls in flight continue.
  private mutating func leave(_ id: MemberID, _ member: Member, _ actions: inout [Action]) {
    members[id]?.isLeaving = true
    pause(member.slot, &actions)
  }
}
