import EntitlementDomain
import NIOCore
import RPCClient
import Wire

/// The load of one thread: everything of it happens on one event loop, without a task for each call.
final class LoadWorker {
  private let plan: RunPlan
  private let thread: Int
  private let eventLoop: any EventLoop
  private let connections: [LoadConnection]
  let recorder: CallRecorder
  private var maker: CallMaker
  private var times = RunTimes(start: .now(), measureFrom: .now(), until: nil)
  private var schedule: ArrivalSchedule?
  private var inFlight = 0
  private var nextConnection = 0
  /// No call is begun from here on.
  private var until = NIODeadline.distantFuture
  /// No late call is begun from here on.
  private var lastLate = NIODeadline.distantFuture
  /// Measured calls that are still to be begun.
  private var remaining: Int?
  private var wake: Scheduled<Void>?
  private var end: EventLoopPromise<Void>?
  private(set) var failure: (any Error)?

  /// - Parameter connections: of this event loop; not empty.
  init(
    _ plan: RunPlan, thread: Int, on eventLoop: any EventLoop, _ connections: [RPCConnection],
    to address: ServerAddress, clock: WallClock
  ) {
    self.plan = plan
    self.thread = thread
    self.eventLoop = eventLoop
    self.connections = connections.map { LoadConnection($0, to: address) }
    maker = CallMaker(plan.calls, thread: thread)
    recorder = CallRecorder(plan, thread: thread, on: eventLoop, clock: clock)
    for connection in self.connections {
      connection.onReconnect = { [weak self] in self?.resume() }
    }
  }

  // MARK: Beginning and end

  /// - Returns: fulfilled when every call has ended.
  func start(_ times: RunTimes) -> EventLoopFuture<Void> {
    self.times = times
    until = times.until ?? .distantFuture
    remaining = plan.count.map { plan.part(of: $0, ofThread: thread) }
    let end = eventLoop.makePromise(of: Void.self)
    self.end = end
    if case .open(let rate, let spacing, _) = plan.shape {
      schedule = ArrivalSchedule(
        rate: rate, spacing: spacing, from: times.start, part: thread, of: plan.threads,
        seed: plan.calls.seed)
    }
    eventLoop.assumeIsolated().scheduleTask(deadline: times.start) { self.resume() }
    if times.until != nil { scheduleStop(at: until) }
    return end.futureResult
  }

  /// Plans no more calls. Those in flight are waited for, each up to its timeout; those that are
  /// late are still made, for as long.
  ///
  /// - Parameter isInterrupted: makes no late calls either.
  func stop(isInterrupted: Bool = false) {
    until = min(until, .now())
    lastLate = isInterrupted ? .now() : until + TimeAmount(plan.calls.timeout)
    resume()
  }

  private func scheduleStop(at moment: NIODeadline) {
    eventLoop.assumeIsolated().scheduleTask(deadline: moment) { self.stop() }
  }

  /// What was counted since the last time.
  func take() -> (tally: Tally, inFlight: Int) {
    (recorder.take(), inFlight)
  }

  func close() -> [RPCConnection] { connections.compactMap { $0.close() } }

  var signedCalls: [SignedCalls] { maker.signedCalls }

  private func fail(_ error: any Error) {
    failure = failure ?? error
    until = .uptimeNanoseconds(0)
  }

  // MARK: Which call comes when

  /// Begins what is due.
  private func resume() {
    switch plan.shape {
    case .closed(let limit): refill(limit)
    case .open(_, _, let limit): catchUp(plan.part(of: limit, ofThread: thread))
    }
    endIfDone()
  }

  private func refill(_ limit: Int) {
    for connection in connections {
      while connection.inFlight < limit, let rpc = connection.rpc, NIODeadline.now() < until {
        begin(on: connection, rpc, intended: .now())
      }
    }
  }

  /// Begins every call whose moment has come, late ones too: nobody's wait is left out.
  private func catchUp(_ limit: Int) {
    let now = NIODeadline.now()
    // A call that fails at once comes back here before it returns: the schedule is then ahead.
    while let intended = schedule?.next, intended <= now, intended < until, now < lastLate {
      guard inFlight < max(limit, 1), let (connection, rpc) = openConnection() else {
        // It goes on when a call has ended, or a connection is there.
        recorder.tally.wasHeld()
        return
      }
      schedule?.advance()
      begin(on: connection, rpc, intended: intended)
    }
    if let next = schedule?.next, next > now, next < until { wakeUp(at: next) }
  }

  private func wakeUp(at moment: NIODeadline) {
    wake?.cancel()
    wake = eventLoop.assumeIsolated().scheduleTask(deadline: moment) { self.resume() }
  }

  private func openConnection() -> (LoadConnection, RPCConnection)? {
    for _ in connections {
      let connection = connections[nextConnection]
      nextConnection = (nextConnection + 1) % connections.count
      if let rpc = connection.rpc { return (connection, rpc) }
    }
    return nil
  }

  // MARK: One call

  private func begin(
    on connection: LoadConnection, _ rpc: RPCConnection, intended: NIODeadline
  ) {
    let isMeasured = intended >= times.measureFrom
    if isMeasured, let left = remaining {
      if left <= 1 { until = min(until, intended) }
      if left == 0 { return }
      remaining = left - 1
    }
    let call: LoadCall
    do {
      call = try maker.next()
    } catch {
      return fail(error)
    }
    let sent = NIODeadline.now()
    connection.inFlight += 1
    inFlight += 1
    rpc.call(call.request) { result in
      connection.inFlight -= 1
      self.inFlight -= 1
      if case .failure(let error) = result, error.code == .connectionClosed, connection.lost() {
        self.recorder.tally.lostConnections += 1
      }
      self.recorder.ended(call, result, intended: intended, sent: sent, isMeasured: isMeasured)
      self.resumeAfterCall(on: connection)
    }
  }

  private func resumeAfterCall(on connection: LoadConnection) {
    switch plan.shape {
    case .closed:
      if let rpc = connection.rpc, NIODeadline.now() < until {
        begin(on: connection, rpc, intended: .now())
      }
    case .open(_, _, let limit):
      if let schedule, schedule.next <= .now(), schedule.next < until {
        catchUp(plan.part(of: limit, ofThread: thread))
      }
    }
    endIfDone()
  }

  private func endIfDone() {
    guard inFlight == 0, NIODeadline.now() >= until, let end = exchange(&self.end, with: nil) else {
      return
    }
    countUnsent()
    wake?.cancel()
    end.succeed()
  }

  /// Calls whose moment came before the end, and that could not be made since.
  private func countUnsent() {
    guard var schedule else { return }
    let now = NIODeadline.now()
    while schedule.next < until, schedule.next < now {
      if schedule.next >= times.measureFrom {
        recorder.tally.failed(
          maker.skip(), code: "NOT_SENT", nanoseconds: (now - schedule.next).nanoseconds)
      }
      schedule.advance()
    }
    self.schedule = schedule
  }
}
