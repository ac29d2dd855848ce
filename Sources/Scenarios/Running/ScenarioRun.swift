import Cryptography
import EntitlementDomain
import EntitlementService
import RPCEndpoints
import StoreSimulator
import Verification
import Wire

/// One run of a scenario, with its results so far.
struct ScenarioRun {
  var signer: PayloadSigner
  private(set) var differences: [Difference] = []
  private(set) var states: [ActualState] = []
  /// Each accepted fact once, in the order of acceptance.
  private(set) var accepted: [AcceptedFact] = []
  private var known: Set<AcceptedFact> = []
  /// What the accepted notifications said, in the order of submission.
  private var notified: [NotifiedSubscription] = []

  init(signer: PayloadSigner) {
    self.signer = signer
  }

  /// - Throws: ``ServiceError`` and ``SimulatorError``, when the run itself failed.
  mutating func perform(_ step: ScenarioStep, in service: ServiceInstance) async throws {
    service.setClock(step.at)
    switch step.action {
    case .notification(let plan):
      let (notification, inner) = try signer.sign(plan)
      try await submit(notification: notification, inner: inner, step, in: service)
    case .submission(let items):
      var payloads: [String] = []
      for item in items { payloads.append(try signer.sign(item)) }
      try await submit(payloads, step, in: service)
    case .lifeCycle(let lifeCycle):
      try await deliver(lifeCycle, step, in: service)
    case .grant, .withdrawal:
      if let refusal = try await grant(step, in: service) {
        var comparison = Comparison(at: step.at)
        comparison.differ(step.line, step.path, "accepted", refusal)
        differences += comparison.differences
      }
    case .catalog(let catalog):
      service.replaceCatalog(catalog)
    case .asNotified:
      try await checkAsNotified(step, in: service, variant: nil)
    case .query(let query):
      for moment in query.moments {
        try await perform(query, at: moment, step, in: service)
      }
    }
  }

  // MARK: Submitting

  private mutating func submit(
    notification: String, inner: [String], _ step: ScenarioStep, in service: ServiceInstance
  ) async throws {
    let result = try await service.submissions.submit(
      NotificationSubmission(
        signedPayload: Array(notification.utf8), accountID: step.account))
    check(try AnswerValue(SubmitNotificationResponse(result)), step)
    if result.verdict == .ok, let payload = Self.payload(of: notification),
      let subscription = NotifiedSubscription(payload: payload, line: step.line)
    {
      notified.append(subscription)
    }
    accept(zip(inner, result.items), account: step.account)
  }

  private mutating func submit(
    _ payloads: [String], _ step: ScenarioStep, in service: ServiceInstance
  ) async throws {
    let result = try await service.submissions.submit(
      TransactionSubmission(
        signedPayloads: payloads.map { Array($0.utf8) }, accountID: step.account))
    check(try AnswerValue(SubmitSignedTransactionsResponse(result)), step)
    accept(zip(payloads, result.items), account: step.account)
  }

  private mutating func deliver(
    _ lifeCycle: LifeCycleEvents, _ step: ScenarioStep, in service: ServiceInstance
  ) async throws {
    for event in lifeCycle.events {
      service.setClock(event.at)
      let signed = try signer.authority.sign(event)
      for call in lifeCycle.delivery.steps(for: [signed], factsPerCall: 100) {
        switch call {
        case .facts(let payloads):
          try await submit(payloads, step, in: service)
        case .notification(let notification):
          let outside = Set(signed.factsOutsideNotification)
          let inner = signed.facts.filter { !outside.contains($0) }
          try await submit(notification: notification, inner: inner, step, in: service)
        }
      }
    }
    service.setClock(step.at)
  }

  private mutating func accept(
    _ results: Zip2Sequence<[String], [ItemResult]>, account: AccountID?
  ) {
    for (jws, result) in results where result.verdict == .ok {
      let fact = AcceptedFact(jws: jws, account: account?.rawValue)
      if known.insert(fact).inserted { accepted.append(fact) }
    }
  }

  /// Compares an answer with the expectation. An unexpected refusal is a difference.
  private mutating func check(_ answer: AnswerValue, _ step: ScenarioStep) {
    var comparison = Comparison(at: step.at)
    if let expectation = step.expectation {
      comparison.compare(expectation, with: answer, at: "\(step.path).expect")
    }
    if step.expectation?.member("verdict") == nil {
      comparison.requireAcceptance(of: answer, at: "\(step.path).expect", line: step.line)
    }
    if case .list(let results) = answer["results"] {
      let expected = step.expectation?.member("results")
      for (index, result) in results.enumerated()
      where expected?.item(index)?.member("verdict") == nil {
        comparison.requireAcceptance(
          of: result, at: "\(step.path).expect.results[\(index)]", line: step.line)
      }
    }
    differences += comparison.differences
  }

  // MARK: Grants

  /// - Returns: the reason of a refusal; nil when the service accepted it.
  func grant(
    _ step: ScenarioStep, in service: ServiceInstance
  ) async throws(ServiceError) -> String? {
    service.setClock(step.at)
    do throws(ServiceError) {
      switch step.action {
      case .grant(let request):
        _ = try await service.grants.add(request)
      case .withdrawal(let withdrawal):
        _ = try await service.grants.withdraw(
          withdrawal.id, in: withdrawal.scope, reason: withdrawal.reason,
          onBehalfOf: withdrawal.onBehalfOf)
      default:
        break
      }
      return nil
    } catch {
      switch error.code {
      case .invalidArgument, .notFound: return error.message
      default: throw error
      }
    }
  }

  // MARK: Queries

  private mutating func perform(
    _ query: ScenarioQuery, at moment: Milliseconds, _ step: ScenarioStep,
    in service: ServiceInstance
  ) async throws {
    guard let selector = query.selector else { return }
    var comparison = Comparison(at: moment)
    do {
      let state = try await service.state(
        of: selector, in: query.scope, at: moment, knowledge: query.knowledge)
      let answer = try AnswerValue(state)
      if let expectation = query.state {
        comparison.compare(expectation, with: answer, at: "")
      }
      states.append(
        ActualState(
          line: step.line, at: moment,
          text: ActualStateText.step(
            state: answer, at: moment, selector: selector)))
      if let expectation = query.explanation {
        let explanation = try await service.explanation(
          of: selector, in: query.scope, at: moment, knowledge: query.knowledge)
        comparison.compare(expectation, with: AnswerValue(explanation), at: "explain")
      }
      if let expectation = query.offers {
        let verdicts = try await service.verdicts(on: selector, in: query.scope, at: moment)
        comparison.compare(expectation, with: try AnswerValue(verdicts), at: "offers")
      }
    } catch let error as ServiceError {
      guard case .invalidArgument = error.code else { throw error }
      comparison.differ(step.line, step.path, "an answer", error.message)
    }
    differences += comparison.differences
  }

  private static func payload(of jws: String) -> [UInt8]? {
    let parts = jws.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 3 ? try? Base64Form.urlWithoutPadding.decode(parts[1]) : nil
  }

  /// Compares the state at the signing of each notification with what the notification says (R54).
  private mutating func checkAsNotified(
    _ step: ScenarioStep, in service: ServiceInstance, variant: String?
  ) async throws {
    if notified.isEmpty {
      var comparison = Comparison(at: step.at, variant: variant)
      comparison.differ(
        step.line, "\(step.path).as_notified", "notifications about a subscription", "none")
      differences += comparison.differences
    }
    for subscription in notified {
      var comparison = Comparison(at: subscription.moment, variant: variant)
      let state = try await service.state(
        of: .originalTransaction(subscription.transaction.originalTransactionID),
        in: subscription.scope, at: subscription.moment)
      subscription.compare(with: state, in: &comparison)
      differences += comparison.differences
    }
  }

  /// Compares the states of two services for each query of the scenario.
  mutating func compare(
    _ other: ServiceInstance, with written: ServiceInstance, steps: [ScenarioStep], variant: String
  ) async throws {
    for step in steps {
      if case .asNotified = step.action {
        try await checkAsNotified(step, in: other, variant: variant)
      }
      guard case .query(let query) = step.action, let selector = query.selector else {
        continue
      }
      for moment in query.moments {
        guard
          let expected = try await comparable(written, selector, query, moment),
          let actual = try await comparable(other, selector, query, moment)
        else { continue }
        var comparison = Comparison(at: moment, variant: variant)
        comparison.compare(expected, with: actual, line: step.line, at: "")
        if query.offers != nil {
          let expected = try await written.verdicts(on: selector, in: query.scope, at: moment)
          let actual = try await other.verdicts(on: selector, in: query.scope, at: moment)
          comparison.compare(
            try AnswerValue(expected), with: try AnswerValue(actual), line: step.line, at: "offers")
        }
        differences += comparison.differences
      }
    }
  }

  /// The state without its revision, which depends on the order of changes. Nil when the query is
  /// refused, which the first run has reported.
  private func comparable(
    _ service: ServiceInstance, _ selector: CustomerSelector, _ query: ScenarioQuery,
    _ moment: Milliseconds
  ) async throws -> AnswerValue? {
    do {
      var state = try await service.state(
        of: selector, in: query.scope, at: moment, knowledge: query.knowledge)
      state.revision = 0
      return try AnswerValue(state)
    } catch let error as ServiceError {
      guard case .invalidArgument = error.code else { throw error }
      return nil
    }
  }
}

// Other orders (R3).
extension ScenarioRun {
  /// Submits all accepted facts to another service, in another order. Grants are made first, each
  /// at its own time.
  ///
  /// - Throws: ``ServiceError``, when the run itself failed.
  func perform(
    _ order: ReplayOrder, in service: ServiceInstance, steps: [ScenarioStep]
  ) async throws {
    // The first run has reported refusals.
    for step in steps { _ = try await grant(step, in: service) }
    service.setClock(steps.last?.at ?? 0)
    switch order {
    case .reversed:
      try await submitOneByOne(accepted.reversed().flatMap { [$0, $0] }, in: service)
    case .shuffled(let seed):
      var generator = SeededGenerator(seed: seed)
      try await submitOneByOne(accepted.shuffled(using: &generator), in: service)
    case .together:
      // One call names one account.
      var accounts: [String?] = []
      for fact in accepted where !accounts.contains(fact.account) { accounts.append(fact.account) }
      for account in accounts {
        _ = try await submit(accepted.filter { $0.account == account }, in: service)
      }
    }
  }

  private func submitOneByOne(
    _ facts: [AcceptedFact], in service: ServiceInstance
  ) async throws {
    var unbound: [AcceptedFact] = []
    for fact in facts where try await !submit([fact], in: service) { unbound.append(fact) }
    // A renewal info names no app: without a transaction of its chain it is refused. It is submitted
    // again at the end, as a client does.
    for fact in unbound { _ = try await submit([fact], in: service) }
  }

  /// - Parameter facts: facts of the same account.
  /// - Returns: whether all were accepted.
  private func submit(_ facts: [AcceptedFact], in service: ServiceInstance) async throws -> Bool {
    let account = facts.first?.account.map { AccountID($0) }
    let result = try await service.submissions.submit(
      TransactionSubmission(
        signedPayloads: facts.map { Array($0.jws.utf8) }, accountID: account))
    return result.items.allSatisfy { $0.verdict == .ok }
  }
}

extension Comparison {
  /// A verdict other than VERDICT_OK is a difference.
  fileprivate mutating func requireAcceptance(
    of answer: AnswerValue, at path: String, line: Int
  ) {
    guard case .text(let verdict) = answer["verdict"], verdict != "VERDICT_OK" else { return }
    let detail = answer["detail"].map { ": \($0.text)" } ?? ""
    differ(line, "\(path).verdict", "VERDICT_OK", "\(verdict)\(detail)")
  }
}

extension AnswerValue {
  /// The deciding rules, by id.
  init(_ explanation: Explanation) {
    func rules(_ decisions: [(String, Rule)]) -> AnswerValue {
      .object(Dictionary(decisions.map { ($0, .text("\($1)")) }) { first, _ in first })
    }
    self = .object([
      "entitlements": rules(
        explanation.entitlements.map {
          ($0.entitlementID.rawValue, $0.reasoning.decision.rule)
        }),
      "groups": rules(
        explanation.groups.map { ($0.groupID.rawValue, $0.reasoning.decision.rule) }),
    ])
  }
}

extension AnswerValue {
  init(_ verdicts: [OfferVerdict]) throws {
    self = .list(try verdicts.map { try AnswerValue(OfferEligibilityEntry($0)) })
  }
}

/// A fact that the service accepted. It is submitted again in other orders.
struct AcceptedFact: Hashable {
  let jws: String
  /// The account that the submission named.
  let account: String?
}

/// Orders in which the accepted facts are submitted again. Each must give the same states (R3).
package enum ReplayOrder: Hashable, Sendable {
  /// One call for each fact, made twice, in reverse order.
  case reversed
  /// All facts of an account in one call.
  case together
  /// One call for each fact, in a random order.
  case shuffled(seed: UInt64)

  /// The orders in which every scenario is run.
  package static let standard: [ReplayOrder] = [.reversed, .together]

  /// The name of the order in a report.
  var label: String {
    switch self {
    case .reversed: "facts one by one in reverse order"
    case .together: "facts in one call"
    case .shuffled(let seed): "facts one by one in random order \(seed)"
    }
  }
}
