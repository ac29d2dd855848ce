import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let receipts: [MessageSample] = [
    MessageSample(
      "bulk",
      SubmitSignedTransactionsRequest(signedPayloads: ["e30.e30.AA"], priority: .bulk)),
    MessageSample(
      "bulk",
      SubmitNotificationRequest(
        signedPayload: "e30.e30.AA", accountID: "account-1", priority: .bulk,
        bundleID: "com.example.scribe")),
    MessageSample(
      "full",
      SubmitReceiptRequest(
        // Bytes may contain a NUL, and need not be UTF-8.
        receipt: [0x30, 0x80, 0x00, 0xff], bundleID: "com.example.scribe",
        accountID: "account-1", deviceIdentifier: [0x00, 0xc0, 0xff], priority: .bulk)),
    MessageSample("bare", SubmitReceiptRequest(receipt: [0])),
    MessageSample(
      "full",
      SubmitReceiptResponse(
        verdict: .ok, detail: "détail", receipt: .full, results: receiptResults,
        customers: [
          SubmittedCustomer(subject: .account("account-1"), scope: scope, revision: 12)
        ])),
    MessageSample("bare", SubmitReceiptResponse(verdict: .unrecognized)),
    MessageSample(
      "bare receipt",
      SubmitReceiptResponse(
        verdict: .wrongDevice,
        receipt: ReceiptSummary(
          receiptType: "", scope: barest, creationDate: 0, inAppCount: 0))),
    MessageSample(
      "receipt of the epoch",
      SubmitReceiptResponse(
        verdict: .ok,
        receipt: ReceiptSummary(
          receiptType: "Xcode", scope: barest, creationDate: 0, originalPurchaseDate: 0,
          expirationDate: 0, inAppCount: 0))),
    MessageSample(
      "full",
      ImportArchivedResponseRequest(
        bundleID: "com.example.scribe", environment: .sandbox, accountID: "émile",
        response: Array("{}".utf8), asOf: 1_448_000_000_000, onBehalfOf: "anna")),
    MessageSample("bare", ImportArchivedResponseRequest(bundleID: "a", response: [0])),
  ]

  static let receiptResults: [SubmittedItemResult] = [
    SubmittedItemResult(
      verdict: .ok, kind: .appTransaction, disposition: .added, link: .linked),
    SubmittedItemResult(
      verdict: .ok, kind: .transaction, disposition: .superseded, originalTransactionID: "1",
      transactionID: "2", link: .linked),
    SubmittedItemResult(verdict: .malformed, detail: "no transaction id", kind: .transaction),
  ]
}

extension ReceiptSummary {
  static let full = ReceiptSummary(
    receiptType: "ProductionVPPSandbox", scope: MessageSample.scope,
    creationDate: 1_600_000_000_000, applicationVersion: "2.1é",
    originalApplicationVersion: "1.0", originalPurchaseDate: 1_500_000_000_000,
    expirationDate: 1_700_000_000_000, inAppCount: 187)
}
