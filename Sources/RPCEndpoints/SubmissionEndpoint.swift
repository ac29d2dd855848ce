import EntitlementDomain
package import EntitlementService
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
    router.unary(WireMethods.submitReceipt, submitReceipt)
  }

  @Sendable
  private func submitSignedTransactions(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    answer.respond(to: call, SubmitSignedTransactionsRequest.self) { request in
      .later {
        let result = try await submissions.submit(
          TransactionSubmission(
            signedPayloads: request.signedPayloads.map { Array($0.utf8) },
            bundleID: request.bundleID, accountID: request.accountID,
            priority: WorkPriority(request.priority)),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitSignedTransactionsResponse(result).encoded()
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
            signedPayload: Array(request.signedPayload.utf8), accountID: request.accountID,
            priority: WorkPriority(request.priority)),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitNotificationResponse(result).encoded()
      }
    }
  }

  @Sendable
  private func submitReceipt(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    answer.respond(to: call, SubmitReceiptRequest.self) { request in
      .later {
        let result = try await submissions.submit(
          ReceiptSubmission(
            receipt: request.receipt, deviceIdentifier: request.deviceIdentifier,
            bundleID: request.bundleID, accountID: request.accountID,
            priority: WorkPriority(request.priority)),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitReceiptResponse(result).encoded()
      }
    }
  }
}
