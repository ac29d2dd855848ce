import EntitlementDomain
import RPCClient
import StoreSimulator
import Wire

/// The answer of a server to one submitting call.
struct SubmissionAnswer: Sendable {
  let results: [SubmittedItemResult]
  let customers: [SubmittedCustomer]
  /// The UUID of an accepted notification.
  let notification: NotificationUUID?
  let isKnownNotification: Bool
  /// The reason of a refusal; nil without one.
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

  /// Whether every fact of the call was known before.
  var isKnown: Bool {
    results.allSatisfy { $0.disposition == .duplicate || $0.disposition == .superseded }
  }

  private static func refusal(in results: [SubmittedItemResult]) -> String? {
    results.first { $0.verdict != .ok }.map { "\($0.verdict): \($0.detail ?? "")" }
  }
}
