import AppStorePayloads
import Cryptography
import EntitlementDomain
package import NIOCore
import NIOHTTP1
import OutboundHTTP
import Synchronization
import Traces
import Tracing

/// A client of Apple's App Store Server API. Safe on any thread; it blocks none.
///
/// Each call has a deadline, which covers all its waits and attempts. Signed payloads are returned as
/// they came. They are **not verified**: pass them to the ordinary verification first.
package final class AppStoreServerClient: Sendable {
  private typealias Sleep = Task<Void, any Error>

  private struct State {
    var keys: AppStoreServerKeys
    var pacing: CallPacing
    var statistics = AppStoreServerStatistics()
    /// The waits of calls, which the end of the client cancels.
    var sleeps: [CallPacing.Lane: Set<Sleep>] = [:]
    var isClosed = false
  }

  package let addresses: AppStoreServerAddresses
  let limits: AppStoreServerLimits
  let clock: AppStoreServerClock
  let report: @Sendable (AppStoreServerKeyEvent) -> Void
  private let http: OutboundHTTPClient
  private let state: Mutex<State>
  /// Ends when the client is shut down and no call is in progress.
  private let (drained, drain) = AsyncStream<Void>.makeStream()

  /// - Parameter report: called on any thread. It must be fast.
  package init(
    addresses: AppStoreServerAddresses = AppStoreServerAddresses(), keys: AppStoreServerKeys,
    limits: AppStoreServerLimits = AppStoreServerLimits(), clock: AppStoreServerClock = .system(),
    report: @escaping @Sendable (AppStoreServerKeyEvent) -> Void = { _ in }
  ) {
    let limits = limits.corrected
    self.addresses = addresses
    self.limits = limits
    self.clock = clock
    self.report = report
    // Not traced: the URL has the id of a transaction.
    http = OutboundHTTPClient(
      connectionsPerHost: limits.connectionsPerHost, connectionTime: limits.connectionTime,
      idleTime: limits.idleTime, responseLength: limits.responseLength)
    state = Mutex(
      State(
        keys: keys,
        pacing: CallPacing(rateFactor: limits.rateFactor, waitingCalls: limits.waitingCalls)))
  }

  /// The keys in force.
  package var keys: AppStoreServerKeys { state.withLock { $0.keys } }

  /// Replaces the keys, for the next requests.
  package func use(_ keys: AppStoreServerKeys) {
    state.withLock { state in
      state.keys = keys
      state.pacing.keep(keys.bundleIDs)
    }
  }

  package var statistics: AppStoreServerStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.callsInProgressLimit = limits.callsInProgress
      statistics.waitingCallsLimit = limits.waitingCalls
      return statistics
    }
  }

  /// Refuses new calls, ends those that wait, lets requests in flight end until the deadline,
  /// cancels the rest, and closes all connections. Must be called once, before the client is
  /// released.
  package func shutDown(deadline: NIODeadline) async {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      if !state.isClosed, state.statistics.callsInProgress == 0 { drain.finish() }
      for sleep in state.sleeps.values.joined() { sleep.cancel() }
      return !state.isClosed
    }
    guard isFirst else { return }
    await withTaskGroup(of: Void.self) { [drained, clock] group in
      group.addTask { for await _ in drained {} }
      // Cancelled when the calls have ended.
      group.addTask { try? await clock.sleep(deadline) }
      await group.next()
      group.cancelAll()
    }
    await http.shutDown()
  }
}

// MARK: Calls

extension AppStoreServerClient {
  /// A call whose answer has no body.
  func call(
    _ request: AppStoreServerRequest, in app: AppScope, deadline: NIODeadline
  ) async throws(AppStoreServerError) {
    try await counted(request.endpoint, app) { () throws(AppStoreServerError) in
      _ = try await attempts(of: request, in: app, deadline: deadline)
    }
  }

  /// A call whose answer is a JSON object.
  func call<Value: Sendable>(
    _ request: AppStoreServerRequest, in app: AppScope, deadline: NIODeadline,
    reading read: (PayloadFields) throws(PayloadError) -> Value
  ) async throws(AppStoreServerError) -> Value {
    try await counted(request.endpoint, app) { () throws(AppStoreServerError) in
      let answer = try await attempts(of: request, in: app, deadline: deadline)
      do throws(PayloadError) {
        guard answer.isJSON else {
          throw PayloadError(.malformedJSON, "the Content-Type is not application/json")
        }
        return try read(PayloadFields(json: answer.body, lengthLimit: limits.responseLength))
      } catch {
        var invalid = AppStoreServerError(error)
        invalid.status = answer.status
        invalid.mayHaveTakenEffect = request.endpoint.isChange
        throw invalid
      }
    }
  }

  /// Counts a call, and records its span if it is traced.
  private func counted<Value: Sendable>(
    _ endpoint: AppStoreServerEndpoint, _ app: AppScope,
    _ body: () async throws(AppStoreServerError) -> Value
  ) async throws(AppStoreServerError) -> Value {
    let span = CallTracer.startChild(
      "app_store.\(endpoint.rawValue)", .client,
      ["app_store.environment": .string(app.environment.rawValue)])
    var failure: AppStoreServerError?
    defer {
      if let failure { span?.fail(failure.code.rawValue) } else { span?.end() }
      let call = AppStoreServerStatistics.Call(
        endpoint: endpoint, environment: app.environment, failure: failure?.code)
      state.withLock { $0.statistics.calls[call, default: 0] += 1 }
    }
    do throws(AppStoreServerError) {
      try begin()
      defer { end() }
      return try await body()
    } catch {
      failure = error
      throw error
    }
  }

  private func begin() throws(AppStoreServerError) {
    try state.withLock { (state) throws(AppStoreServerError) in
      guard !state.isClosed else { throw .shutDown }
      guard state.statistics.callsInProgress < limits.callsInProgress else {
        throw AppStoreServerError(
          .busy, "\(limits.callsInProgress) calls are in progress", isRetryable: true)
      }
      state.statistics.callsInProgress += 1
    }
  }

  private func end() {
    state.withLock { state in
      state.statistics.callsInProgress -= 1
      if state.isClosed, state.statistics.callsInProgress == 0 { drain.finish() }
    }
  }

  /// Sends a request until it succeeds, fails for good, or would have to wait beyond the deadline.
  private func attempts(
    of request: AppStoreServerRequest, in app: AppScope, deadline: NIODeadline
  ) async throws(AppStoreServerError) -> OutboundAnswer {
    guard let address = addresses[app.environment] else {
      throw AppStoreServerError(
        .unsupportedEnvironment, "\(app.environment.rawValue) has no App Store Server API")
    }
    let lane = CallPacing.Lane(app: app, endpoint: request.endpoint)
    var retries = CallRetries(request.endpoint, limits)
    do throws(AppStoreServerError) {
      while true {
        guard clock.uptime() < deadline else { throw .deadlineExceeded }
        let key = try key(of: app.bundleID)
        try await permit(lane, permitDeadline(of: request.endpoint, deadline))
        let token = try token(of: key, for: app.bundleID)
        state.withLock { state in
          state.statistics.requests += 1
          if retries.attempts > 0 { state.statistics.retries += 1 }
        }
        do throws(AppStoreServerError) {
          return try await attempt(
            request, at: address.description + request.target, token: token.text, deadline)
        } catch {
          let now = clock.now()
          let asked = error.retryAt.map {
            Duration.milliseconds(max(0, $0.rawValue - now.rawValue))
          }
          let backoff = retries.backoff(jitter: .random(in: 0...1))
          // Other calls wait too, also when this one does not.
          if error.status == 429 { pause(lane, for: asked ?? backoff) }
          switch retries.attemptFailed(error, asked: asked, backoff: backoff) {
          case .fail: throw error
          case .withFreshToken: key.refused(token, for: app.bundleID)
          case .after(let time):
            let end = clock.uptime() + TimeAmount(time)
            guard end < deadline, let sleep = try beginSleep(until: end, lane) else { throw error }
            try await ended(sleep, lane)
          }
        }
      }
    } catch {
      throw retries.ended(with: error)
    }
  }

  private func attempt(
    _ request: AppStoreServerRequest, at url: String, token: String, _ deadline: NIODeadline
  ) async throws(AppStoreServerError) -> OutboundAnswer {
    let left = Duration(deadline - clock.uptime())
    guard left > .zero else { throw .deadlineExceeded }
    // A deadline that passes while a connection is opened would look like one that passed after the
    // request was sent.
    if request.endpoint.tellsConsumption {
      guard left > limits.connectionTime + Self.answerTime else { throw .deadlineExceeded }
    }
    let answer: OutboundAnswer
    do throws(OutboundFault) {
      answer = try await http.answer(
        to: request.method, url, request.headers(token: token), request.body,
        within: min(left, limits.attemptTime))
    } catch {
      let isStuck = error == .timeout && limits.attemptTime < left
      throw AppStoreServerError(
        isStuck ? .interrupted(error.description) : error, request.endpoint)
    }
    if answer.isSuccess {
      guard !answer.isTooLong else {
        throw AppStoreServerError(answerBeyond: limits.responseLength, request.endpoint)
      }
      return answer
    }
    var error = AppStoreServerError(
      answer, now: clock.now(), longestWait: limits.longestRetryAfter)
    error.mayHaveTakenEffect = request.endpoint.isChange && answer.status >= 500
    throw error
  }

  // MARK: Keys and tokens

  private func key(of app: BundleID) throws(AppStoreServerError) -> AppStoreServerKey {
    guard let key = keys[app] else {
      throw AppStoreServerError(.noKey, "\(app) has no key for the App Store Server API")
    }
    return key
  }

  private func token(
    of key: AppStoreServerKey, for app: BundleID
  ) throws(AppStoreServerError) -> ServerToken {
    do throws(CryptographyError) {
      let (token, isNew, event) = try key.token(
        for: app, now: clock.now(), uptime: clock.uptime())
      state.withLock { state in
        if isNew { state.statistics.tokensSigned += 1 }
        if event?.kind == .unusable { state.statistics.keyFileFailures += 1 }
      }
      if let event { report(event) }
      return token
    } catch {
      throw AppStoreServerError(.keyUnusable, "the key \(key.keyID) cannot sign: \(error.message)")
    }
  }

  // MARK: Waiting

  /// What is left at least for the answer of a call that tells about consumption.
  private static let answerTime = Duration.seconds(5)
  /// How long a call that tells about consumption waits for its permit. Consent that is withdrawn
  /// meanwhile comes too late for it.
  private static let shortWait = TimeAmount.seconds(1)

  /// Until when a call waits for its permit at most.
  private func permitDeadline(
    of endpoint: AppStoreServerEndpoint, _ deadline: NIODeadline
  ) -> NIODeadline {
    endpoint.tellsConsumption ? min(deadline, clock.uptime() + Self.shortWait) : deadline
  }

  /// Waits until one request may be sent.
  private func permit(
    _ lane: CallPacing.Lane, _ deadline: NIODeadline
  ) async throws(AppStoreServerError) {
    while true {
      let now = clock.uptime()
      let (permit, sleep) = try state.withLock {
        (state) throws(AppStoreServerError) -> (CallPacing.Permit, Sleep?) in
        let permit = state.pacing.permit(
          lane, now: now, deadline: deadline, mayWait: hasRoom(for: lane, state))
        switch permit {
        case .reserved(let moment), .paused(let moment):
          state.statistics.permitWaits += 1
          return (permit, beginSleep(until: moment, lane, &state))
        case .busy where state.isClosed: throw .shutDown
        case .now, .refused, .busy: return (permit, nil)
        }
      }
      if let sleep { try await ended(sleep, lane) }
      switch permit {
      case .now: return
      case .refused(let moment):
        var error = AppStoreServerError(
          .rateLimited, "no request is allowed before the deadline", isRetryable: true)
        error.retryAt = clock.now().advanced(by: Duration(moment - now).milliseconds)
        throw error
      case .busy: throw AppStoreServerError(.busy, "too many calls wait", isRetryable: true)
      case .reserved:
        if !state.withLock({ $0.pacing.isPaused(lane, now: clock.uptime()) }) { return }
      case .paused: break
      }
    }
  }

  private func pause(_ lane: CallPacing.Lane, for time: Duration) {
    let end = clock.uptime() + TimeAmount(time)
    state.withLock { $0.pacing.pause(lane, until: end) }
  }

  /// - Returns: nil if too many calls wait.
  private func beginSleep(
    until end: NIODeadline, _ lane: CallPacing.Lane
  ) throws(AppStoreServerError) -> Sleep? {
    try state.withLock { (state) throws(AppStoreServerError) in
      guard !state.isClosed else { throw .shutDown }
      return hasRoom(for: lane, state) ? beginSleep(until: end, lane, &state) : nil
    }
  }

  private func beginSleep(
    until end: NIODeadline, _ lane: CallPacing.Lane, _ state: inout State
  ) -> Sleep {
    let sleep = Sleep { [clock] in try await clock.sleep(end) }
    state.sleeps[lane, default: []].insert(sleep)
    state.statistics.waitingCalls += 1
    return sleep
  }

  /// Whether one more call may wait.
  private func hasRoom(for lane: CallPacing.Lane, _ state: State) -> Bool {
    !state.isClosed && state.statistics.waitingCalls < limits.waitingCalls
      && state.sleeps[lane, default: []].count < limits.waitingCallsPerLane
  }

  /// Waits for the end of a sleep, which is the end of the call if it was cancelled.
  private func ended(
    _ sleep: Sleep, _ lane: CallPacing.Lane
  ) async throws(AppStoreServerError) {
    let result = await withTaskCancellationHandler {
      await sleep.result
    } onCancel: {
      sleep.cancel()
    }
    let isClosed = state.withLock { state in
      state.statistics.waitingCalls -= 1
      state.sleeps[lane]?.remove(sleep)
      if state.sleeps[lane]?.isEmpty == true { state.sleeps[lane] = nil }
      return state.isClosed
    }
    if Task.isCancelled { throw .cancelled }
    if isClosed { throw .shutDown }
    if case .failure = result { throw .cancelled }
  }
}

extension OutboundAnswer {
  /// Parameters, such as a charset, do not count.
  fileprivate var isJSON: Bool {
    let type = headers.first(name: "content-type")?.prefix { $0 != ";" && $0 != " " }
    return type?.lowercased() == "application/json"
  }
}
