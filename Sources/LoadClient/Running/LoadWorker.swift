import NIOCore
import RPCClient
import Wire

/// The load of one thread: everything of it happens on one event loop, without a task for each call.
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
  /// Running while there is no connection in a run that nothing else ends.
  private var absence: Scheduled<Void>?
  private var isServerGone = false
  private var end: EventLoopPromise<LoadEnd>?

  /// - Parameter connections: of this event loop; not empty.
  init(
    _ plan: RunPlan, thread: Int, on eventLoop: any EventLoop, _ connections: [RPCConnection],
    to address: ServerAddress, clock: WallClock
  ) {
    self.plan = plan
    self.thread = thread
    self.eventLoop = eventLoop
    self.connections = LoadConnections(connections, to: address)
    planner = CallPlanner(plan, thread: thread)
    recorder = CallRecorder(plan, thread: thread, on: eventLoop, clock: clock)
    self.connections.onReconnect = { [weak self] in self?.reconnected() }
  }

  // MARK: Beginning and end

  /// - Returns: fulfilled when every call has ended; ``SimulatorError`` when a payload cannot be
  ///   signed.
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

  /// Plans no more calls, and makes no late ones. Those in flight are waited for.
  func interrupt() {
    planner.cut(at: .now())
    resume()
  }

  /// What was counted since the last time.
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
    absence?.cancel()
    end.succeed(LoadEnd(moment: now, isServerGone: isServerGone))
  }

  // MARK: Which call goes where

  /// Makes what is due.
  private func resume() {
    switch plan.shape {
    case .closed(let limit):
      for connection in connections.all { refill(connection, limit) }
      wakeUpLater(isHeldUp: planner.isDue(at: .now()))
    case .open(_, _, let limit): catchUp(plan.part(of: limit, ofThread: thread))
    }
    endIfDone()
  }

  private func refill(_ connection: LoadConnection, _ limit: Int) {
    while connection.inFlight < limit, let rpc = connection.rpc, planner.isDue(at: .now()) {
      makeCall(on: connection, rpc)
    }
  }

  /// Makes every call whose moment has come, late ones too: nobody's wait is left out.
  private func catchUp(_ limit: Int) {
    var isHeldUp = false
    while planner.isDue(at: .now()) {
      guard inFlight < limit,
        let (connection, rpc) = connections.withRoom(below: ShapeOptions.largestInFlight)
      else {
        // It goes on when a call has ended, or a connection is there.
        recorder.tally.wasHeld()
        isHeldUp = true
        break
      }
      makeCall(on: connection, rpc)
    }
    wakeUpLater(isHeldUp: isHeldUp)
  }

  /// When the next call is due, even if it has become due since; or when what waits is not made any
  /// more.
  private func wakeUpLater(isHeldUp: Bool) {
    let moment = isHeldUp ? planner.lastLate : planner.next ?? .distantFuture
    if moment == wakeMoment { return }
    wakeMoment = moment
    wake?.cancel()
    guard !isHeldUp || moment > .now(), moment < .distantFuture else { return }
    wake = eventLoop.assumeIsolated().scheduleTask(deadline: moment) { self.resume() }
  }

  // MARK: One call

  private func makeCall(on connection: LoadConnection, _ rpc: RPCConnection) {
    let sent = NIODeadline.now()
    let planned: PlannedCall
    do {
      planned = try planner.take(at: sent)
    } catch {
      planner.cut(at: sent)
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
      planner.putBack(planned)
      // Another connection may have room. Not at once: it may be closed too, as may be thousands.
      eventLoop.assumeIsolated().execute { self.resume() }
      return
    }
    recorder.ended(planned, result, sent: sent)
    switch plan.shape {
    // The other connections have their calls.
    case .closed(let limit): refill(connection, limit)
    case .open(_, _, let limit):
      if planner.isDue(at: .now()) { catchUp(plan.part(of: limit, ofThread: thread)) }
    }
    endIfDone()
  }

  // MARK: Connections that come and go

  private func lostConnection() {
    recorder.tally.lostConnections += 1
    guard connections.isNoneOpen, plan.duration == nil else { return }
    absence = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(plan.longestAbsence)) {
      self.isServerGone = true
      self.interrupt()
    }
  }

  private func reconnected() {
    absence?.cancel()
    resume()
  }
}
