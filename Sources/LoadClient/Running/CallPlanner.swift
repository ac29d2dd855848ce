import NIOCore

/// Which call of one thread comes when. On its event loop.
struct CallPlanner {
  private let shape: LoadShape
  private let timeout: TimeAmount
  private var maker: CallMaker
  private var measureFrom = NIODeadline.distantFuture
  private var schedule: ArrivalSchedule?
  /// Measured calls that are still to be made; nil: any number.
  private var remaining: Int?
  /// Calls that were begun on a connection that was closed already: no server saw them.
  private var unsent: [PlannedCall] = []
  /// No call's moment comes from here on.
  private var until = NIODeadline.distantFuture
  /// Whether what is late at the end is not made any more.
  private var isCut = false

  init(_ plan: RunPlan, thread: Int) {
    shape = plan.shape
    timeout = TimeAmount(plan.calls.timeout)
    maker = CallMaker(plan.calls, thread: thread)
    remaining = plan.count.map { plan.part(of: $0, ofThread: thread) }
  }

  var signedCalls: [SignedCalls] { maker.signedCalls }

  // MARK: Beginning and end

  /// - Parameter schedule: of an open loop.
  mutating func start(_ times: RunTimes, schedule: ArrivalSchedule?) {
    measureFrom = times.measureFrom
    self.schedule = schedule
    // It may have been cut before it began.
    until = min(until, times.until ?? .distantFuture)
  }

  /// Plans no more calls, and makes no late ones.
  mutating func cut(at moment: NIODeadline) {
    until = min(until, moment)
    isCut = true
  }

  /// No late call is made from here on.
  var lastLate: NIODeadline {
    if isCut { return until }
    return until == .distantFuture ? .distantFuture : until + timeout
  }

  // MARK: What is due

  /// When the next call of an open loop is meant to be made; nil: there is none.
  var next: NIODeadline? {
    guard let schedule, schedule.next < until, remaining != 0 else { return nil }
    return schedule.next
  }

  /// Whether a call is to be made now.
  func isDue(at now: NIODeadline) -> Bool {
    if !unsent.isEmpty { return now < lastLate }
    return switch shape {
    case .closed: now < until && remaining != 0
    case .open: next.map { $0 <= now && now < lastLate } ?? false
    }
  }

  /// Whether all is made that is made at all.
  func isDone(at now: NIODeadline) -> Bool {
    (now >= until || remaining == 0) && !isDue(at: now)
  }

  /// The next call, which is due.
  ///
  /// - Throws: ``SimulatorError`` when a payload cannot be signed.
  mutating func take(at now: NIODeadline) throws -> PlannedCall {
    if let call = unsent.popLast() { return call }
    let intended = schedule?.next ?? now
    schedule?.advance()
    let isMeasured = intended >= measureFrom
    if isMeasured, let left = remaining { remaining = left - 1 }
    return PlannedCall(call: try maker.next(), intended: intended, isMeasured: isMeasured)
  }

  /// A call that no server saw waits for another connection, and its wait counts.
  mutating func putBack(_ call: PlannedCall) { unsent.append(call) }

  /// Measured calls whose moment came, and that were never made: none of them is left afterwards.
  ///
  /// - Parameter each: told the kind, and when it was meant to be made.
  mutating func drop(at now: NIODeadline, _ each: (CallKind, NIODeadline) -> Void) {
    for call in unsent where call.isMeasured { each(call.call.kind, call.intended) }
    unsent = []
    while let intended = next, intended < now {
      if intended >= measureFrom {
        each(maker.skip(), intended)
        if let left = remaining { remaining = left - 1 }
      }
      schedule?.advance()
    }
    remaining = 0
  }
}
