import EntitlementDomain
import RPCClient
import Wire

/// Checks whether a server is fully functional.
struct HealthProbe: Sendable {
  let load: LoadContext

  /// Whether it reports SERVING, accepts a new submission, and reads from the primary.
  func isWell(_ server: EntitledNode) async throws -> Bool {
    guard await server.isServing() else { return false }
    let index = load.takeCustomer()
    guard let step = try load.stock.customer(at: index).steps.first,
      let client = try? await EntitlementClient.connect(
        to: server.address, configuration: .impatient(timeout: .seconds(10)))
    else { return false }
    defer { Task { await client.close() } }
    load.record.willSend(step.facts)
    guard
      let answer = try? await SubmissionAnswer(sending: step.call, for: nil, with: client),
      answer.refusal == nil
    else { return false }
    load.record.answered(
      step.facts, notification: answer.notification,
      at: CustomerStock.Place(customer: index, step: 0))
    let read = try? await client.customerState(
      GetCustomerStateRequest(
        customer: .account(LoadContext.claimers[0]), scope: CustomerStock.scope,
        consistency: .fullyConsistent))
    return read != nil
  }
}
