import EntitlementDomain
import RPCClient
import StoreSimulator
import Wire

/// What a server said to one call that hands something in.
struct SubmissionAnswer: Sendable {
  let results: [SubmittedItemResult]
  let customers: [SubmittedCustomer]
  /// Of a notification that was accepted.
  let notification: NotificationUUID?
  let isKnownNotification: Bool
  /// Why something was refused; nil when nothing was.
  let refusal: String?

  init(
    sending call: DeliveryStep, for account: AccountID?, with client: EntitlementClient
  ) async throws(RPCClientError) {
    switch call {
    case .facts(let payloads):
      let answer = try await client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: payloads, accountID: account))
      results = answer.results
      customers = answer.customers
      notification = nil
      isKnownNotification = false
      refusal = Self.refusal(in: answer.results)
    case .notification(let payload):
      let answer = try await client.submitNotification(
        SubmitNotificationRequest(signedPayload: payload, accountID: account))
      results = answer.results
      customers = answer.customers
      notification = answer.verdict == .ok ? answer.notificationUUID : nil
      isKnownNotification = answer.isDuplicate
      refusal =
        answer.verdict == .ok
        ? Self.refusal(in: answer.results) : "notification: \(answer.verdict)"
    }
  }

  /// Everything of the call was known before.
  var isKnown: Bool {
    results.allSatisfy { $0.disposition == .duplicate || $0.disposition == .superseded }
  }

  private static func refusal(in results: [SubmittedItemResult]) -> String? {
    results.first { $0.verdict != .ok }.map { "\($0.verdict): \($0.detail ?? "")" }
  }
}
