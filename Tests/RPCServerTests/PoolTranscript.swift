import NIOCore

@testable import RPCClient

/// A pool's decisions as text, a line each.
struct PoolTranscript {
  typealias State = ConnectionPoolState<String>

  private var state: State
  private var leases: [String: State.Lease] = [:]

  init(addressCount: Int, limits: ConnectionPoolLimits) {
    state = State(addressCount: addressCount, limits: limits)
  }

  var inFlight: [String: Int] {
    var calls: [String: Int] = [:]
    for member in state.members.values { calls[member.connection] = member.calls }
    return calls
  }

  mutating func call(_ waiter: UInt64, avoiding: String? = nil, at milliseconds: Int64 = 0)
    -> String
  {
    record { pool, actions in
      let avoided = avoiding.flatMap { pool.leases[$0] }
      let now = Self.moment(milliseconds)
      switch pool.state.callArrived(waiter, avoiding: avoided, now: now, &actions) {
      case .use(let lease): return pool.note(lease)
      case .wait: return "wait"
      case .refuse(let error): return "\(error)"
      }
    }
  }

  mutating func other(than first: String) -> String {
    record { pool, actions in
      guard let lease = pool.leases[first] else { return "?" }
      return pool.state.otherConnection(than: lease, now: Self.moment(0), &actions)
        .map { pool.note($0) } ?? "none"
    }
  }

  mutating func connected(_ slot: Int, _ name: String) -> String {
    record { pool, actions in
      let member = pool.state.connected(slot: slot, name, now: Self.moment(0), &actions)
      if let member {
        pool.leases[name] = State.Lease(
          connection: name, member: member, address: pool.state.slots[slot].address)
      }
      return nil
    }
  }

  mutating func end(
    _ name: String, _ outcome: State.Outcome = .answered, at milliseconds: Int64 = 0
  ) -> String {
    record { pool, actions in
      guard let lease = pool.leases[name] else { return "?" }
      pool.state.callEnded(lease, outcome, now: Self.moment(milliseconds), &actions)
      return nil
    }
  }

  mutating func failed(_ slot: Int, _ message: String, at milliseconds: Int64) -> String {
    record { pool, actions in
      pool.state.connectFailed(
        slot: slot, RPCClientError(.unreachable, message),
        now: Self.moment(milliseconds), &actions)
      return nil
    }
  }

  mutating func closed(_ name: String, at milliseconds: Int64) -> String {
    record { pool, actions in
      guard let lease = pool.leases[name] else { return "?" }
      pool.state.connectionClosed(
        lease.member, now: Self.moment(milliseconds), &actions)
      return nil
    }
  }

  mutating func pauseEnded(_ slot: Int) -> String {
    record { pool, actions in
      pool.state.pauseEnded(slot: slot, &actions)
      return nil
    }
  }

  mutating func waitEnded(_ waiter: UInt64) -> String? {
    state.waitEnded(waiter).map { "\($0)" }
  }

  mutating func close() -> String {
    record { pool, actions in
      pool.state.closeStarted(&actions)
      return nil
    }
  }

  mutating func closeNow() -> String {
    record { pool, actions in
      pool.state.closeEnded(&actions)
      return nil
    }
  }

  private static func moment(_ milliseconds: Int64) -> NIODeadline {
    .uptimeNanoseconds(0) + .milliseconds(milliseconds)
  }

  private mutating func note(_ lease: State.Lease) -> String {
    leases[lease.connection] = lease
    return lease.connection
  }

  private mutating func record(
    _ body: (inout Self, inout [State.Action]) -> String?
  ) -> String {
    var actions: [State.Action] = []
    let decision = body(&self, &actions)
    let lines = actions.map { action in
      switch action {
      case .connect(let slot, let address): "connect \(slot) at \(address)"
      case .pause(let slot, let failures): "pause \(slot) after \(failures)"
      case .close(let name): "close \(name)"
      case .resume(let waiter, .success(let lease)): "\(waiter) gets \(lease.connection)"
      case .resume(let waiter, .failure(let error)): "\(waiter) fails: \(error)"
      case .drained: "drained"
      }
    }
    return ((decision.map { [$0] } ?? []) + lines).joined(separator: "; ")
  }
}
