import EntitlementDomain
import RPCClient
import StoreSimulator
import Wire

/// Submits one customer after the other, and repeats each call until it is answered.
struct Submitter: Sendable {
  private let load: LoadContext
  private let lane: ClientLane

  /// Between two calls, so that the machine is busy but not overloaded.
  private static let pause = Duration.milliseconds(15)

  init(_ load: LoadContext, client: Int) {
    self.load = load
    lane = ClientLane(load, random: load.random(client))
  }

  func run() async throws {
    while !load.isStopping {
      let index = load.takeCustomer()
      let customer = try load.stock.customer(at: index)
      for (number, step) in customer.steps.enumerated() {
        let place = CustomerStock.Place(customer: index, step: number)
        while !load.isStopping, !(await submit(step, for: customer.accountID, at: place)) {}
        try? await Task.sleep(for: Self.pause)
      }
    }
    await lane.drop()
  }

  /// - Parameter place: nil for a repeated step.
  /// - Returns: whether it was answered.
  func submit(
    _ step: SignedStep, for account: AccountID?, at place: CustomerStock.Place?
  ) async -> Bool {
    load.record.willSend(step.facts)
    guard
      let answer = await lane.call(
        "submission",
        { (client) async throws(RPCClientError) in
          try await SubmissionAnswer(sending: step.call, for: account, with: client)
        })
    else { return false }
    if let refusal = answer.refusal {
      load.findings.add(.payloadRefused, refusal)
      return true
    }
    load.record.answered(step.facts, notification: answer.notification, at: place)
    load.counters.add(.submissions)
    load.counters.add(.facts, step.facts.count)
    for customer in answer.customers {
      if case .account(let account) = customer.subject {
        load.board.saw(customer.revision, of: account)
      }
    }
    if let account { note(answer, named: account) }
    return true
  }

  /// Records the outcome of each chain once, for any number of its facts.
  private func note(_ answer: SubmissionAnswer, named account: AccountID) {
    var seen: Set<OriginalTransactionID> = []
    for result in answer.results {
      guard let chain = result.originalTransactionID, seen.insert(chain).inserted,
        [.linked, .transferred, .reclaimed].contains(result.link)
      else { continue }
      load.record.answered(AnswerRecord.Claim(target: .chain(chain), account: account))
      if [.transferred, .reclaimed].contains(result.link) { load.counters.add(.transfers) }
    }
  }
}
