import EntitlementDomain
import EntitlementService
import Verification

extension ScenarioRun {
  /// Brings everything that was accepted to another world, in another order. Grants stand there from
  /// the start, each with the moment at which it was given.
  ///
  /// - Throws: ``ServiceError``, when the run itself failed.
  func perform(_ order: OtherOrder, in world: ScenarioWorld, steps: [ScenarioStep]) async throws {
    // A refusal was told in the first run.
    for step in steps { _ = try await grant(step, in: world) }
    world.setClock(steps.last?.at ?? 0)
    switch order {
    case .reversed:
      var unbound: [AcceptedFact] = []
      for fact in accepted.reversed() {
        for _ in 1...2 {
          if try await !submit([fact], in: world) { unbound.append(fact) }
        }
      }
      // A renewal info names no app: without a transaction of its chain it is refused, and handed in
      // again later, as a client does.
      for fact in unbound { _ = try await submit([fact], in: world) }
    case .together:
      // One call names one account.
      var accounts: [String?] = []
      for fact in accepted where !accounts.contains(fact.account) { accounts.append(fact.account) }
      for account in accounts {
        _ = try await submit(accepted.filter { $0.account == account }, in: world)
      }
    }
  }

  /// - Parameter facts: all named by the same account.
  /// - Returns: whether all were accepted.
  private func submit(_ facts: [AcceptedFact], in world: ScenarioWorld) async throws -> Bool {
    let account = facts.first?.account.map { AccountID($0) }
    let result = try await world.submissions.submit(
      TransactionSubmission(
        signedPayloads: facts.map { Array($0.jws.utf8) }, accountID: account))
    return result.items.allSatisfy { $0.verdict == .ok }
  }
}
