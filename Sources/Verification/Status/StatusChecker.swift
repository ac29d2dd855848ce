import Cryptography
package import EntitlementDomain
import Synchronization

/// Checks the revocation status of certificates with OCSP (RFC 6960) and caches the responses. Use
/// it only for verified payloads, so that only real signers can cause requests. Safe on any thread.
/// It blocks no thread.
package final class StatusChecker: Sendable {
  private struct State {
    var cache: StatusCache
    /// Requests in flight. A certificate has one at a time (single flight).
    var inFlight: [StatusQuery.Key: Task<StatusOutcome, Never>] = [:]
    var statistics = StatusStatistics()
  }

  private enum Step {
    case known(StatusOutcome)
    case inFlight(Task<StatusOutcome, Never>)
  }

  package let policy: StatusPolicy
  private let responder: any StatusResponder
  private let maximumRequests: Int
  private let capacity: Int
  private let report: @Sendable (StatusEvent) -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - capacity: maximum number of cached certificates.
  ///   - maximumRequests: maximum number of requests in flight.
  ///   - report: called on any thread for each status that is not good and each failed request. It
  ///     must be fast.
  package init(
    policy: StatusPolicy, responder: any StatusResponder,
    capacity: Int = StatusLimits.cachedCertificates,
    maximumRequests: Int = StatusLimits.maximumRequests,
    report: @escaping @Sendable (StatusEvent) -> Void = { _ in }
  ) {
    self.policy = policy
    self.responder = responder
    self.maximumRequests = maximumRequests
    self.capacity = capacity
    self.report = report
    state = Mutex(State(cache: StatusCache(capacity: capacity)))
  }

  package var statistics: StatusStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.entries = state.cache.count
      statistics.entriesLimit = capacity
      statistics.inFlight = state.inFlight.count
      statistics.inFlightLimit = maximumRequests
      return statistics
    }
  }

  /// Checks the chains of one payload.
  ///
  /// - Parameter now: the time for the check.
  /// - Returns: nil when the payload passes; a refusal with ``Verdict/certificateRevoked``, or with
  ///   ``Verdict/retryable`` if the policy is strict and a status is unknown.
  package func check(_ chains: [CertificateChain], now: Milliseconds) async -> Refusal? {
    await refusals(of: [chains], now: now)[0]
  }

  /// Checks the chains of many payloads. Each certificate is queried once, and all concurrently.
  ///
  /// - Returns: the result of ``check(_:now:)`` for each payload.
  package func refusals(
    of payloads: [[CertificateChain]], now: Milliseconds
  ) async -> [Refusal?] {
    guard policy != .off else { return payloads.map { _ in nil } }
    var queries: [StatusQuery.Key: StatusQuery] = [:]
    for chain in Set(payloads.joined()) {
      for query in chain.statusQueries(at: now) { queries[query.key] = query }
    }
    let outcomes = await outcomes(of: queries, now: now)
    // Most payloads of a batch have the same chains.
    var decisions: [[CertificateChain]: StatusDecision] = [:]
    var undecided = 0
    let refusals = payloads.map { chains -> Refusal? in
      let decision =
        decisions[chains]
        ?? StatusDecision(
          chains.flatMap { $0.statusQueries(at: now) }, outcomes: outcomes, policy: policy)
      decisions[chains] = decision
      if decision.isUndecided { undecided += 1 }
      return decision.refusal
    }
    if undecided > 0 { state.withLock { $0.statistics.undecided += undecided } }
    return refusals
  }

  private func outcomes(
    of queries: [StatusQuery.Key: StatusQuery], now: Milliseconds
  ) async -> [StatusQuery.Key: StatusOutcome] {
    var outcomes: [StatusQuery.Key: StatusOutcome] = [:]
    // All requests start before the first one is awaited.
    var inFlight: [StatusQuery.Key: Task<StatusOutcome, Never>] = [:]
    for (key, query) in queries {
      switch begin(query, now: now) {
      case .known(let outcome): outcomes[key] = outcome
      case .inFlight(let task): inFlight[key] = task
      }
    }
    for (key, task) in inFlight { outcomes[key] = await task.value }
    return outcomes
  }

  private func begin(_ query: StatusQuery, now: Milliseconds) -> Step {
    state.withLock { state in
      if let outcome = state.cache.outcome(of: query.key, now: now) {
        state.statistics.hits += 1
        return .known(outcome)
      }
      if let task = state.inFlight[query.key] {
        state.statistics.joined += 1
        return .inFlight(task)
      }
      guard state.inFlight.count < maximumRequests else {
        state.statistics.turnedAway += 1
        return .known(
          state.cache.revocation(of: query.key)
            ?? .undecided(why: "too many status requests are in flight"))
      }
      // An unstructured task: others may wait for it after the caller was cancelled.
      let task = Task { await resolve(query, now: now) }
      state.inFlight[query.key] = task
      return .inFlight(task)
    }
  }

  /// Sends the request and caches the result.
  private func resolve(_ query: StatusQuery, now: Milliseconds) async -> StatusOutcome {
    let key = query.key
    let result = await send(query, now: now)
    let outcome = state.withLock { state in
      state.inFlight[key] = nil
      result.count(in: &state.statistics)
      switch result {
      case .certificateStatus(let certificateStatus):
        return state.cache.record(certificateStatus, of: key, now: now)
      case .failure(let kind, let why, _):
        let time =
          kind == .withoutResponder ? StatusLimits.maximumCacheTime : StatusLimits.backoff
        return state.cache.recordNoAnswer(.undecided(why: why), of: key, for: time, now: now)
      }
    }
    if let (kind, detail) = result.event {
      report(
        StatusEvent(
          kind: kind, subject: query.certificate.subject, address: query.address,
          detail: detail))
    }
    return outcome
  }

  private func send(_ query: StatusQuery, now: Milliseconds) async -> StatusResult {
    guard let address = query.address else {
      return .failure(.withoutResponder, "the certificate names no responder")
    }
    state.withLock { $0.statistics.asked += 1 }
    let (certificate, issuer) = (query.certificate, query.issuer)
    let request: [UInt8]
    do {
      request = try OCSPRequest.der(for: certificate, issuedBy: issuer)
    } catch {
      return .failure(.unusable, error.message)
    }
    let response: [UInt8]
    do {
      response = try await responder.answer(to: request, at: address)
    } catch {
      // The network error is logged. The caller gets a refusal without it.
      return .failure(
        .unreachable, why: "the OCSP responder does not answer", detail: "\(error)")
    }
    do {
      return .certificateStatus(
        try OCSPResponse(der: response).certificateStatus(
          of: certificate, issuedBy: issuer, now: now.rawValue))
    } catch {
      return .failure(.unusable, error.message)
    }
  }
}

extension StatusChecker {
  /// Replaces verified payloads whose certificates fail the status check with refusals.
  ///
  /// - Parameters:
  ///   - now: the time for the check.
  ///   - chains: the certificate chains of a payload.
  /// - Returns: the results, in the same order.
  package func check<Payload>(
    _ results: [Result<Payload, Refusal>], now: Milliseconds,
    chains: (Payload) -> [CertificateChain]
  ) async -> [Result<Payload, Refusal>] {
    let refusals = await refusals(
      of: results.map { result in
        // Refused payloads are not checked.
        if case .success(let payload) = result { chains(payload) } else { [] }
      }, now: now)
    return zip(results, refusals).map { result, refusal in
      refusal.map { .failure($0) } ?? result
    }
  }
}

/// Sends OCSP requests to responders.
package protocol StatusResponder: Sendable {
  /// Posts an OCSP request (RFC 6960 appendix A.1).
  ///
  /// - Parameters:
  ///   - request: in DER.
  ///   - url: the URL from the certificate, always `http:`.
  /// - Returns: the response, unverified and bounded in size.
  /// - Throws: when there is no response within the timeout of the implementation. The error is
  ///   logged.
  func answer(to request: [UInt8], at url: String) async throws -> [UInt8]
}

/// Limits of certificate status checks. Times are those of the clock used for verification.
package enum StatusLimits {
  /// Maximum number of cached certificates (LRU). Apple uses two to four at a time, tests and
  /// simulators a few.
  package static let cachedCertificates = 256
  /// Maximum number of requests in flight. More would mean a flood of signers; further requests
  /// fail at once.
  package static let maximumRequests = 32
  /// Maximum time that a response is cached, 24 hours, whatever its validity period. Apple's are
  /// valid for hours to days, and a revocation must take effect within a day.
  package static let maximumCacheTime: Milliseconds = 86_400_000
  /// Backoff after a failed request, 30 seconds. A responder that is down is not queried for each
  /// payload, and recovery is noticed soon.
  package static let backoff: Milliseconds = 30_000
}
