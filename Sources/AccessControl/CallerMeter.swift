import Framing
package import NIOCore
import Synchronization
package import Wire

/// What a call costs its caller.
package enum CallCost: Hashable, Sendable {
  /// Customers that are read.
  case reads(Int)
  /// An explanation, an export, or a read of another moment.
  case expensiveRead
  /// Payloads that are submitted.
  case submissions(Int)
  case none
}

/// What a caller has used of its limits: one for each caller's name, for all its connections and
/// all credentials that were in force.
package final class CallerMeter: Sendable {
  private struct State {
    var limits = CallerLimits()
    var reads: TokenBucket?
    var expensiveReads: TokenBucket?
    var submissions: TokenBucket?
  }

  private static let lastNumber = Atomic<UInt64>(0)
  /// How far a caller may overdraw its rate by one call: the largest call, at one a second.
  private static let largestDebt = TimeAmount.minutes(10)

  /// Tells callers apart where they take turns.
  package let number: UInt64
  private let state = Mutex(State())
  /// Whether reads are limited: so that others need no lock.
  private let limitsReads = Atomic(false)
  private let inFlightLimit = Atomic(Int.max)
  private let connectionLimit = Atomic(Int.max)
  private let callsInFlight = Atomic(0)
  private let connectionsOpen = Atomic(0)

  package init(_ limits: CallerLimits? = nil) {
    number = Self.lastNumber.add(1, ordering: .relaxed).newValue
    if let limits { update(limits) }
  }

  /// Sets the limits. Rates that are the same keep what was used of them.
  package func update(_ limits: CallerLimits) {
    state.withLock { state in
      func bucket(_ former: TokenBucket?, _ old: Int?, _ new: Int?) -> TokenBucket? {
        old == new
          ? former : new.map { TokenBucket(tokensPerSecond: $0, largestDebt: Self.largestDebt) }
      }
      state.reads = bucket(state.reads, state.limits.readsPerSecond, limits.readsPerSecond)
      state.expensiveReads = bucket(
        state.expensiveReads, state.limits.expensiveReadsPerSecond,
        limits.expensiveReadsPerSecond)
      state.submissions = bucket(
        state.submissions, state.limits.submissionsPerSecond, limits.submissionsPerSecond)
      state.limits = limits
    }
    limitsReads.store(limits.readsPerSecond != nil, ordering: .relaxed)
    inFlightLimit.store(limits.inFlight ?? .max, ordering: .relaxed)
    connectionLimit.store(limits.connections ?? .max, ordering: .relaxed)
  }

  package var limits: CallerLimits? {
    let limits = state.withLock(\.limits)
    return limits == CallerLimits() ? nil : limits
  }

  // MARK: Rates

  /// Whether a read would be within the rate now.
  package func allowsRead(now: NIODeadline) -> Bool {
    guard limitsReads.load(ordering: .relaxed) else { return true }
    return state.withLock { $0.reads?.nextToken(now: now) == nil }
  }

  /// Counts reads that were answered. They may overdraw the rate: a caller waits for that later.
  package func countReads(_ count: Int, now: NIODeadline) {
    guard limitsReads.load(ordering: .relaxed) else { return }
    state.withLock { _ = $0.reads?.take(count, now: now) }
  }

  /// Charges a call.
  ///
  /// - Parameter prepaid: What was charged for the call before, of the same rate or another one. It is
  ///   within its rate then, and only the rest is charged.
  /// - Returns: nil if it is within the rate; otherwise how long the caller must wait, and nothing
  ///   is charged.
  package func charge(
    _ cost: CallCost, prepaid: CallCost = .none, now: NIODeadline
  ) -> Duration? {
    switch (cost, prepaid) {
    case (.reads(let count), .reads(let paid)):
      if count > paid { countReads(count - paid, now: now) }
      return nil
    case (.submissions(let count), .submissions(let paid)):
      if count > paid { state.withLock { _ = $0.submissions?.take(count - paid, now: now) } }
      return nil
    case (.none, _): return nil
    case (.reads(let count), _):
      guard limitsReads.load(ordering: .relaxed) else { return nil }
      return state.withLock { Self.take(count, from: &$0.reads, now: now) }
    case (.expensiveRead, _):
      return state.withLock { Self.take(1, from: &$0.expensiveReads, now: now) }
    case (.submissions(let count), _):
      return state.withLock { Self.take(count, from: &$0.submissions, now: now) }
    }
  }

  private static func take(_ count: Int, from bucket: inout TokenBucket?, now: NIODeadline)
    -> Duration?
  {
    guard let next = bucket?.nextToken(now: now) else {
      bucket?.take(max(count, 1), now: now)
      return nil
    }
    return .nanoseconds((next - now).nanoseconds)
  }

  // MARK: Calls in flight and connections

  /// Begins a call; nil at the limit. The call is in flight until the result is deallocated.
  package func beginCall() -> InFlightCall? {
    let count = callsInFlight.add(1, ordering: .relaxed).newValue
    guard count <= inFlightLimit.load(ordering: .relaxed) else {
      endCall()
      return nil
    }
    return InFlightCall(self)
  }

  fileprivate func endCall() { callsInFlight.subtract(1, ordering: .relaxed) }

  /// Counts a connection of the caller; nil at the limit. It is open until the result is
  /// deallocated.
  package func openConnection() -> CallerConnection? {
    let count = connectionsOpen.add(1, ordering: .relaxed).newValue
    guard count <= connectionLimit.load(ordering: .relaxed) else {
      closeConnection()
      return nil
    }
    return CallerConnection(self)
  }

  fileprivate func closeConnection() { connectionsOpen.subtract(1, ordering: .relaxed) }

  package var inFlight: Int { callsInFlight.load(ordering: .relaxed) }
  package var connections: Int { connectionsOpen.load(ordering: .relaxed) }
}

/// A call in flight of a caller, until the last reference to it is gone.
package final class InFlightCall: Sendable {
  private let meter: CallerMeter

  fileprivate init(_ meter: CallerMeter) {
    self.meter = meter
  }

  deinit { meter.endCall() }
}

/// A connection that a caller uses, until the last reference to it is gone.
package final class CallerConnection: Sendable {
  package let meter: CallerMeter

  fileprivate init(_ meter: CallerMeter) {
    self.meter = meter
  }

  deinit { meter.closeConnection() }
}
