import Framing
import NIOCore
import RPCClient
import Wire

/// The load of one thread. It runs on one event loop, without a task for each call.
final class LoadWorker {
  private let plan: RunPlan
  private let thread: Int
  private let eventLoop: any EventLoop
  private let connections: LoadConnections
  private let recorder: CallRecorder
  private var planner: CallPlanner
  private var inFlight = 0
  private var wake: Scheduled<Void>?
  private var wakeMoment = NIODeadline.distantFuture
  /// Ends a run without a duration when no connection is open for too long.
  private var disconnectTimeout: Scheduled<Void>?
  private var isServerGone = false
  private var end: EventLoopPromise<LoadEnd>?

  /// - Parameter connections: all on this event loop; not empty.
  init(
    _ plan: RunPlan, thread: Int, on eventLoop: any EventLoop, _ connections: [RPCConnection],
    to target: RPCTarget, clock: WallClock
  ) {
    self.plan = plan
    self.thread = thread
    self.eventLoop = eventLoop
    self.connections = LoadConnections(connections, to: target)
    planner = CallPlanner(plan, thread: thread)
    recorder = CallRecorder(plan, thread: thread, on: eventLoop, clock: clock)
    self.connections.onReconnect = { [weak self] in self?.reconnected() }
  }

  // MARK: Start and end

  /// - Returns: succeeds when every call has ended; fails with ``SimulatorError`` when a payload
  ///   cannot be signed.
  func start(_ times: RunTimes) -> EventLoopFuture<LoadEnd> {
    let end = eventLoop.makePromise(of: LoadEnd.self)
    self.end = end
    var schedule: ArrivalSchedule?
    if case .open(let rate, let spacing, _) = plan.shape {
      schedule = ArrivalSchedule(
        rate: rate, spacing: spacing, from: times.start, part: thread, of: plan.threads,
        seed: plan.calls.seed)
    }
    planner.start(times, schedule: schedule)
    eventLoop.assumeIsolated().scheduleTask(deadline: times.start) { self.resume() }
    if let until = times.until {
      eventLoop.assumeIsolated().scheduleTask(deadline: until) { self.resume() }
    }
    return end.futureResult
  }

  /// Plans no further calls, and makes no late ones. Calls in flight end normally.
  func interrupt() {
    planner.stop(at: .now())
    resume()
  }

  /// Returns the counts since the last call, and resets them.
  func take() -> (tally: Tally, inFlight: Int) {
    (recorder.take(), inFlight)
  }

  func close() -> [RPCConnection] { connections.close() }

  var verifier: AnswerVerifier { recorder.verifier }

  var signedCalls: [SignedCalls] { planner.signedCalls }

  private func endIfDone() {
    let now = NIODeadline.now()
    guard inFlight == 0, planner.isDone(at: now), let end = exchange(&self.end, with: nil) else {
      return
    }
    planner.drop(at: now) { kind, intended in
      recorder.tally.failed(kind, code: "NOT_SENT", nanoseconds: (now - intended).nanoseconds)
    }
    wake?.cancel()
    disconnectTimeout?.cancel()
    end.succeed(LoadEnd(moment: now, isServerGone: isServerGone))
  }

  // MARK: Making due calls

  /// Makes the calls that are due.
  private func resume() {
    switch plan.shape {
    case .closed(let limit):
      for connection in connections.all { refill(connection, limit) }
      scheduleWakeUp(isDelayed: planner.isDue(at: .now()))
    case .open(_, _, let limit): makeDueCalls(plan.part(of: limit, ofThread: thread))
    }
    endIfDone()
  }

  private func refill(_ connection: LoadConnection, _ limit: Int) {
    while connection.inFlight < limit, let rpc = connection.rpc, planner.isDue(at: .now()) {
      makeCall(on: connection, rpc)
    }
  }

  /// Makes every due call, also late ones, so that their waits count as latency.
  private func makeDueCalls(_ limit: Int) {
    var isDelayed = false
    while planner.isDue(at: .now()) {
      guard inFlight < limit,
        let (connection, rpc) = connections.withRoom(below: ShapeOptions.largestInFlight)
      else {
        // Continues when a call has ended, or a connection was reopened.
        recorder.tally.wasDelayed()
        isDelayed = true
        break
      }
      makeCall(on: connection, rpc)
    }
    scheduleWakeUp(isDelayed: isDelayed)
  }

  /// Wakes up when the next call is due, even if it is due by now; when calls are delayed, at their
  /// deadline.
  private func scheduleWakeUp(isDelayed: Bool) {
    let moment = isDelayed ? planner.lateCallDeadline : planner.next ?? .distantFuture
    if moment == wakeMoment { return }
    wakeMoment = moment
    wake?.cancel()
    guard !isDelayed || moment > .now(), moment < .distantFuture else { return }
    wake = eventLoop.assumeIsolated().scheduleTask(deadline: moment) { self.resume() }
  }

  // MARK: One call

  private func makeCall(on connection: LoadConnection, _ rpc: RPCConnection) {
    let sent = NIODeadline.now()
    let planned: PlannedCall
    do {
      planned = try planner.take(at: sent)
    } catch {
      planner.stop(at: sent)
      exchange(&end, with: nil)?.fail(error)
      return
    }
    connection.inFlight += 1
    inFlight += 1
    rpc.call(planned.call.request) { result in
      connection.inFlight -= 1
      self.inFlight -= 1
      self.ended(planned, result, on: connection, sent: sent)
    }
  }

  private func ended(
    _ planned: PlannedCall, _ result: Result<ByteBuffer, RPCClientError>,
    on connection: LoadConnection, sent: NIODeadline
  ) {
    var isUnsent = false
    if case .failure(let error) = result, error.code == .connectionClosed {
      isUnsent = !error.wasSent
      if connections.lost(connection) { lostConnection() }
    }
    if isUnsent {
      planner.requeue(planned)
      // Another connection may have room. Resumes in a new event, since thousands of connections
      // may be closed and the recursion would be deep.
      eventLoop.assumeIsolated().execute { self.resume() }
      return
    }
    recorder.ended(planned, result, sent: sent)
    switch plan.shape {
    // The other connections have their own calls.
    case .closed(let limit): refill(connection, limit)
    case .open(_, _, let limit):
      if planner.isDue(at: .now()) { makeDueCalls(plan.part(of: limit, ofThread: thread)) }
    }
    endIfDone()
  }

  // MARK: Lost connections

  private func lostConnection() {
    recorder.tally.lostConnections += 1
    guard connections.isNoneOpen, plan.duration == nil else { return }
    let timeout = TimeAmount(plan.reconnectTimeout)
    disconnectTimeout = eventLoop.assumeIsolated().scheduleTask(in: timeout) {
      self.isServerGone = true
      self.interrupt()
    }
  }

  private func reconnected() {
    disconnectTimeout?.cancel()
    resume()
  }
}
