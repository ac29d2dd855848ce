import EntitlementDomain
import EntitlementService
import RPCEndpoints
import StoreSimulator
import Verification
import Wire

/// What one run of a scenario did and found so far.
struct ScenarioRun {
  var signer: PayloadSigner
  private(set) var differences: [Difference] = []
  private(set) var states: [FoundState] = []
  /// Each once, in the order of acceptance.
  private(set) var accepted: [AcceptedFact] = []
  private var known: Set<AcceptedFact> = []

  init(signer: PayloadSigner) {
    self.signer = signer
  }

  /// - Throws: ``ServiceError`` and ``SimulatorError``, when the run itself failed.
  mutating func perform(_ step: ScenarioStep, in world: ScenarioWorld) async throws {
    world.setClock(step.at)
    switch step.action {
    case .notification(let plan):
      let (notification, inner) = try signer.sign(plan)
      try await submit(notification: notification, inner: inner, step, in: world)
    case .submission(let items):
      var payloads: [String] = []
      for item in items { payloads.append(try signer.sign(item)) }
      try await submit(payloads, step, in: world)
    case .lifeCycle(let lifeCycle):
      try await tell(lifeCycle, step, in: world)
    case .grant, .withdrawal:
      if let refusal = try await grant(step, in: world) {
        var comparison = Comparison(at: step.at)
        comparison.differ(step.line, step.path, "accepted", refusal)
        differences += comparison.differences
      }
    case .catalog(let catalog):
      world.replaceCatalog(catalog)
    case .question(let question):
      for moment in question.moments {
        try await ask(question, at: moment, step, in: world)
      }
    }
  }

  // MARK: Submitting

  private mutating func submit(
    notification: String, inner: [String], _ step: ScenarioStep, in world: ScenarioWorld
  ) async throws {
    let result = try await world.submissions.submit(
      NotificationSubmission(
        signedPayload: Array(notification.utf8), accountID: step.account))
    check(try AnswerValue(SubmitNotificationResponse(result)), step)
    accept(zip(inner, result.items), account: step.account)
  }

  private mutating func submit(
    _ payloads: [String], _ step: ScenarioStep, in world: ScenarioWorld
  ) async throws {
    let result = try await world.submissions.submit(
      TransactionSubmission(
        signedPayloads: payloads.map { Array($0.utf8) }, accountID: step.account))
    check(try AnswerValue(SubmitSignedTransactionsResponse(result)), step)
    accept(zip(payloads, result.items), account: step.account)
  }

  private mutating func tell(
    _ lifeCycle: LifeCycleEvents, _ step: ScenarioStep, in world: ScenarioWorld
  ) async throws {
    for event in lifeCycle.events {
      world.setClock(event.at)
      let signed = try signer.authority.sign(event)
      for call in lifeCycle.delivery.steps(for: [signed], factsPerCall: 100) {
        switch call {
        case .facts(let payloads):
          try await submit(payloads, step, in: world)
        case .notification(let notification):
          let outside = Set(signed.factsOutsideNotification)
          let inner = signed.facts.filter { !outside.contains($0) }
          try await submit(notification: notification, inner: inner, step, in: world)
        }
      }
    }
    world.setClock(step.at)
  }

  private mutating func accept(
    _ results: Zip2Sequence<[String], [ItemResult]>, account: AccountID?
  ) {
    for (jws, result) in results where result.verdict == .ok {
      let fact = AcceptedFact(jws: jws, account: account?.rawValue)
      if known.insert(fact).inserted { accepted.append(fact) }
    }
  }

  /// Compares an answer with what is expected. A refusal that nobody expects is a difference.
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

  /// - Returns: why it was refused; nil when it was not.
  func grant(
    _ step: ScenarioStep, in world: ScenarioWorld
  ) async throws(ServiceError) -> String? {
    world.setClock(step.at)
    do throws(ServiceError) {
      switch step.action {
      case .grant(let request):
        _ = try await world.grants.add(request)
      case .withdrawal(let withdrawal):
        _ = try await world.grants.withdraw(
          withdrawal.id, in: withdrawal.scope, reason: withdrawal.reason,
          author: withdrawal.author)
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

  // MARK: Asking

  private mutating func ask(
    _ question: Question, at moment: Milliseconds, _ step: ScenarioStep, in world: ScenarioWorld
  ) async throws {
    guard let selector = question.selector else { return }
    var comparison = Comparison(at: moment)
    do {
      let state = try await world.state(of: selector, in: question.scope, at: moment)
      let answer = try AnswerValue(state)
      if let expectation = question.state {
        comparison.compare(expectation, with: answer, at: "")
      }
      states.append(
        FoundState(
          line: step.line, at: moment,
          text: FoundStateText.step(
            state: answer, at: moment, selector: selector)))
      if let expectation = question.explanation {
        let explanation = try await world.explanation(
          of: selector, in: question.scope, at: moment)
        comparison.compare(expectation, with: AnswerValue(explanation), at: "explain")
      }
    } catch let error as ServiceError {
      guard case .invalidArgument = error.code else { throw error }
      comparison.differ(step.line, step.path, "an answer", error.message)
    }
    differences += comparison.differences
  }

  /// Holds the states of two worlds against each other, for everything that the scenario asks.
  mutating func compare(
    _ other: ScenarioWorld, with written: ScenarioWorld, steps: [ScenarioStep], variant: String
  ) async throws {
    for step in steps {
      guard case .question(let question) = step.action, let selector = question.selector else {
        continue
      }
      for moment in question.moments {
        guard
          let expected = try await comparable(written, selector, question.scope, moment),
          let actual = try await comparable(other, selector, question.scope, moment)
        else { continue }
        var comparison = Comparison(at: moment, variant: variant)
        comparison.compare(expected, with: actual, line: step.line, at: "")
        differences += comparison.differences
      }
    }
  }

  /// Without the revision, which counts changes and so depends on how they came. Nil where nothing
  /// can be asked, which was told before.
  private func comparable(
    _ world: ScenarioWorld, _ selector: CustomerSelector, _ scope: AppScope, _ moment: Milliseconds
  ) async throws -> AnswerValue? {
    do {
      var state = try await world.state(of: selector, in: scope, at: moment)
      state.revision = 0
      return try AnswerValue(state)
    } catch let error as ServiceError {
      guard case .invalidArgument = error.code else { throw error }
      return nil
    }
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
  /// Which rule decided, by id.
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
