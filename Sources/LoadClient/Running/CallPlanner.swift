import NIOCore

/// Plans the calls of one thread: their order and start times. Used on the event loop of the
/// thread.
struct CallPlanner {
  private let shape: LoadShape
  private let timeout: TimeAmount
  private var maker: CallMaker
  private var measureFrom = NIODeadline.distantFuture
  private var schedule: ArrivalSchedule?
  /// Remaining number of measured calls; nil when there is no limit.
  private var remaining: Int?
  /// Calls that were made on a connection that was already closed. The server has not received
  /// them.
  private var unsent: [PlannedCall] = []
  /// No call is planned from this time on.
  private var until = NIODeadline.distantFuture
  /// Whether late calls are no longer made.
  private var isStopped = false

  init(_ plan: RunPlan, thread: Int) {
    shape = plan.shape
    timeout = TimeAmount(plan.calls.timeout)
    maker = CallMaker(plan.calls, thread: thread)
    remaining = plan.count.map { plan.part(of: $0, ofThread: thread) }
  }

  var signedCalls: [SignedCalls] { maker.signedCalls }

  // MARK: Start and end

  /// - Parameter schedule: the schedule of an open loop; nil for a closed loop.
  mutating func start(_ times: RunTimes, schedule: ArrivalSchedule?) {
    measureFrom = times.measureFrom
    self.schedule = schedule
    // The planner may have been stopped before the start.
    until = min(until, times.until ?? .distantFuture)
  }

  /// Plans no further calls, and makes no late ones.
  mutating func stop(at moment: NIODeadline) {
    until = min(until, moment)
    isStopped = true
  }

  /// No late call is made from this time on.
  var lateCallDeadline: NIODeadline {
    if isStopped { return until }
    return until == .distantFuture ? .distantFuture : until + timeout
  }

  // MARK: Due calls

  /// The intended start time of the next call of an open loop; nil when there is none.
  var next: NIODeadline? {
    guard let schedule, schedule.next < until, remaining != 0 else { return nil }
    return schedule.next
  }

  /// Whether a call is due now.
  func isDue(at now: NIODeadline) -> Bool {
    if !unsent.isEmpty { return now < lateCallDeadline }
    return switch shape {
    case .closed: now < until && remaining != 0
    case .open: next.map { $0 <= now && now < lateCallDeadline } ?? false
    }
  }

  /// Whether no further call will be made.
  func isDone(at now: NIODeadline) -> Bool {
    (now >= until || remaining == 0) && !isDue(at: now)
  }

  /// Takes the next call, which must be due.
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

  /// Requeues a call that the server has not received. The wait counts as latency.
  mutating func requeue(_ call: PlannedCall) { unsent.append(call) }

  /// Drops the measured calls that were due and never made.
  ///
  /// - Parameter each: called with the kind and the intended start time of each.
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

/// A call that is due.
struct PlannedCall {
  let call: LoadCall
  /// The intended start time. Latency counts from here.
  let intended: NIODeadline
  /// False for a call of the warm-up, which is checked but not counted.
  let isMeasured: Bool
}
