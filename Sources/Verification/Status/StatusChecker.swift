import Cryptography
package import EntitlementDomain
import Synchronization

/// Asks issuers whether they have revoked the certificates that vouch for payloads (RFC 6960), and
/// remembers their answers. Only for payloads that verified, so that nobody but a signer can have
/// questions asked. Safe on any thread; no thread waits for the network.
package final class StatusChecker: Sendable {
  private struct State {
    var memory: StatusMemory
    /// One for each question that is under way.
    var flights: [StatusQuestion.Key: Task<StatusOutcome, Never>] = [:]
    var statistics = StatusStatistics()
  }

  private enum Step {
    case known(StatusOutcome)
    case underWay(Task<StatusOutcome, Never>)
  }

  package let policy: StatusPolicy
  private let responder: any StatusResponder
  private let maximumQuestions: Int
  private let report: @Sendable (StatusEvent) -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - capacity: certificates whose status is remembered.
  ///   - questions: how many may be under way at a time.
  ///   - report: called for each answer that is not good, and each question without one; on any
  ///     thread. It must be quick.
  package init(
    policy: StatusPolicy, responder: any StatusResponder,
    capacity: Int = StatusLimits.rememberedCertificates, questions: Int = StatusLimits.questions,
    report: @escaping @Sendable (StatusEvent) -> Void = { _ in }
  ) {
    self.policy = policy
    self.responder = responder
    maximumQuestions = questions
    self.report = report
    state = Mutex(State(memory: StatusMemory(capacity: capacity)))
  }

  package var statistics: StatusStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.entries = state.memory.count
      return statistics
    }
  }

  /// Judges the chains that vouch for one payload.
  ///
  /// - Parameter now: the moment that answers are judged at.
  /// - Returns: nil when the payload passes; a refusal with ``Verdict/certificateRevoked``, or with
  ///   ``Verdict/retryable`` where the policy is strict and nothing was decided.
  package func check(_ chains: [CertificateChain], now: Milliseconds) async -> Refusal? {
    await refusals(of: [chains], now: now)[0]
  }

  /// Judges the chains of many payloads. Each question is asked once, and all at the same time.
  ///
  /// - Returns: for each payload, as ``check(_:now:)``.
  package func refusals(
    of payloads: [[CertificateChain]], now: Milliseconds
  ) async -> [Refusal?] {
    guard policy != .off else { return payloads.map { _ in nil } }
    var questions: [StatusQuestion.Key: StatusQuestion] = [:]
    for chain in Set(payloads.joined()) {
      for question in chain.statusQuestions(at: now) { questions[question.key] = question }
    }
    let outcomes = await outcomes(of: questions, now: now)
    // Most payloads of a batch have the same chains.
    var decisions: [[CertificateChain]: StatusDecision] = [:]
    var undecided = 0
    let refusals = payloads.map { chains -> Refusal? in
      let decision =
        decisions[chains]
        ?? StatusDecision(
          chains.flatMap { $0.statusQuestions(at: now) }, outcomes: outcomes, policy: policy)
      decisions[chains] = decision
      if decision.isUndecided { undecided += 1 }
      return decision.refusal
    }
    if undecided > 0 { state.withLock { $0.statistics.undecided += undecided } }
    return refusals
  }

  private func outcomes(
    of questions: [StatusQuestion.Key: StatusQuestion], now: Milliseconds
  ) async -> [StatusQuestion.Key: StatusOutcome] {
    var outcomes: [StatusQuestion.Key: StatusOutcome] = [:]
    // All are begun before any is waited for.
    var underWay: [StatusQuestion.Key: Task<StatusOutcome, Never>] = [:]
    for (key, question) in questions {
      switch begin(question, now: now) {
      case .known(let outcome): outcomes[key] = outcome
      case .underWay(let flight): underWay[key] = flight
      }
    }
    for (key, flight) in underWay { outcomes[key] = await flight.value }
    return outcomes
  }

  private func begin(_ question: StatusQuestion, now: Milliseconds) -> Step {
    state.withLock { state in
      if let outcome = state.memory.outcome(of: question.key, now: now) {
        state.statistics.hits += 1
        return .known(outcome)
      }
      if let flight = state.flights[question.key] {
        state.statistics.joined += 1
        return .underWay(flight)
      }
      guard state.flights.count < maximumQuestions else {
        state.statistics.turnedAway += 1
        return .known(
          state.memory.revocation(of: question.key)
            ?? .undecided(why: "too many questions are under way"))
      }
      // Apart from the caller: others may wait for it when the caller has given up.
      let flight = Task { await settle(question, now: now) }
      state.flights[question.key] = flight
      return .underWay(flight)
    }
  }

  /// Asks, and remembers the answer.
  private func settle(_ question: StatusQuestion, now: Milliseconds) async -> StatusOutcome {
    let key = question.key
    let answer = await ask(question, now: now)
    let outcome = state.withLock { state in
      state.flights[key] = nil
      answer.count(in: &state.statistics)
      switch answer {
      case .standing(let standing):
        return state.memory.record(standing, of: key, now: now)
      case .failure(let kind, let why, _):
        let time =
          kind == .withoutResponder ? StatusLimits.longestMemory : StatusLimits.backOff
        return state.memory.recordNoAnswer(.undecided(why: why), of: key, for: time, now: now)
      }
    }
    if let (kind, detail) = answer.event {
      report(
        StatusEvent(
          kind: kind, subject: question.certificate.subject, address: question.address,
          detail: detail))
    }
    return outcome
  }

  private func ask(_ question: StatusQuestion, now: Milliseconds) async -> StatusAnswer {
    guard let address = question.address else {
      return .failure(.withoutResponder, "the certificate names no responder")
    }
    state.withLock { $0.statistics.asked += 1 }
    let (certificate, issuer) = (question.certificate, question.issuer)
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
      // What the network says is for the log, and the refusal for whoever submitted.
      return .failure(
        .unreachable, why: "its responder does not answer", detail: "\(error)")
    }
    do {
      return .standing(
        try OCSPResponse(der: response).standing(
          of: certificate, issuedBy: issuer, now: now.rawValue))
    } catch {
      return .failure(.unusable, error.message)
    }
  }
}
