import NIOCore

// Calls come, wait and end.
extension ConnectionPoolState {
  /// A connection for a call, if there is one.
  ///
  /// - Parameters:
  ///   - avoided: where the call failed before: another server is better, else another connection.
  ///   - actions: to be carried out.
  mutating func leaseAtOnce(
    avoiding avoided: Lease?, now: NIODeadline, _ actions: inout [Action]
  ) -> Lease? {
    if isClosing || !waiters.isEmpty {
      return nil
    }
    fillFirstSlots(&actions)
    return leaseLeastBusy(avoiding: avoided, now: now, &actions)
  }

  /// The same for a call that can wait under this name.
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

  /// A second attempt is to go over another connection than the first.
  ///
  /// - Returns: nil when there is none at once.
  mutating func otherConnection(
    than first: Lease, now: NIODeadline, _ actions: inout [Action]
  ) -> Lease? {
    isClosing ? nil : leaseLeastBusy(avoiding: first, isStrict: true, now: now, &actions)
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

  /// No more calls for this connection; those in flight go on.
  private mutating func leave(_ id: MemberID, _ member: Member, _ actions: inout [Action]) {
    members[id]?.isLeaving = true
    pause(member.slot, &actions)
  }
}
