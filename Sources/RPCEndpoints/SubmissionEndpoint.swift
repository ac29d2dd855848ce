import EntitlementDomain
package import EntitlementService
import EntitlementStore
package import RPCServer
import Verification
import Wire

/// `entitle.v1.SubmissionService`: takes in what Apple signed.
package struct SubmissionEndpoint: Sendable {
  private let submissions: SubmissionService

  package init(submissions: SubmissionService) {
    self.submissions = submissions
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.submitSignedTransactions, submitSignedTransactions)
    router.unary(WireMethods.submitNotification, submitNotification)
  }

  @Sendable
  private func submitSignedTransactions(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    answer.respond(to: call, SubmitSignedTransactionsRequest.self) { request in
      .later {
        let result = try await submissions.submit(
          TransactionSubmission(
            signedPayloads: request.signedPayloads.map { Array($0.utf8) },
            bundleID: request.bundleID, accountID: request.accountID),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitSignedTransactionsResponse(
          results: result.items.map { SubmittedItemResult($0) },
          customers: result.customers.map { SubmittedCustomer($0) }
        ).encoded()
      }
    }
  }

  @Sendable
  private func submitNotification(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    answer.respond(to: call, SubmitNotificationRequest.self) { request in
      .later {
        let result = try await submissions.submit(
          NotificationSubmission(
            signedPayload: Array(request.signedPayload.utf8), accountID: request.accountID),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitNotificationResponse(
          verdict: SubmissionVerdict(result.verdict), detail: result.detail,
          notificationUUID: result.record?.uuid, notificationType: result.record?.type,
          subtype: result.record?.subtype, isDuplicate: result.wasKnown,
          results: result.items.map { SubmittedItemResult($0) },
          customers: result.customers.map { SubmittedCustomer($0) }, events: result.events
        ).encoded()
      }
    }
  }
}

// The wire has enumerations of its own, with the same raw values: it knows neither the store nor
// verification.

extension SubmissionVerdict {
  init(_ verdict: Verdict) {
    self = SubmissionVerdict(rawValue: verdict.rawValue) ?? .unrecognized
  }
}

extension SubmittedItemResult {
  fileprivate init(_ item: ItemResult) {
    self.init(
      verdict: SubmissionVerdict(item.verdict), detail: item.detail,
      kind: item.kind.map { SubmittedKind($0) },
      disposition: item.disposition.flatMap { SubmissionDisposition(rawValue: $0.rawValue) },
      originalTransactionID: item.originalTransactionID, transactionID: item.transactionID,
      link: item.link.flatMap { SubmissionLinkOutcome(rawValue: $0.rawValue) })
  }
}

extension SubmittedKind {
  fileprivate init(_ kind: SignedKind) {
    switch kind {
    case .transaction: self = .transaction
    case .renewalInfo: self = .renewalInfo
    case .appTransaction: self = .appTransaction
    case .notification: self = .notification
    }
  }
}

extension SubmittedCustomer {
  fileprivate init(_ customer: CustomerRevision) {
    self.init(
      subject: Subject(customer.subject), scope: customer.subject.scope,
      revision: customer.revision)
  }
}
