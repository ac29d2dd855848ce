import EntitlementDomain
import TestSupport

@testable import Wire

extension SubmitReceiptRequest {
  static func random(using generator: inout SeededRandom) -> SubmitReceiptRequest {
    SubmitReceiptRequest(
      receipt: [0x30] + generator.bytes(upTo: 64),
      bundleID: maybe(using: &generator) { .random(using: &$0) },
      accountID: maybe(using: &generator) { .random(using: &$0) },
      deviceIdentifier: maybe(using: &generator) { [1] + $0.bytes(upTo: 63) },
      priority: SubmissionPriority.allCases.randomElement(using: &generator)!)
  }
}

extension SubmitReceiptResponse {
  static func random(using generator: inout SeededRandom) -> SubmitReceiptResponse {
    SubmitReceiptResponse(
      verdict: SubmissionVerdict.allCases.randomElement(using: &generator)!,
      detail: maybe(using: &generator, randomText),
      receipt: maybe(using: &generator, ReceiptSummary.random),
      results: many(using: &generator) { generator in
        SubmittedItemResult(
          verdict: SubmissionVerdict.allCases.randomElement(using: &generator)!,
          detail: maybe(using: &generator, randomText),
          kind: maybe(using: &generator) { SubmittedKind.allCases.randomElement(using: &$0)! })
      },
      customers: many(using: &generator) { generator in
        SubmittedCustomer(
          subject: .unlinkedChain(.random(using: &generator)), scope: .random(using: &generator),
          revision: .random(in: .min ... .max, using: &generator))
      })
  }
}

extension ReceiptSummary {
  static func random(using generator: inout SeededRandom) -> ReceiptSummary {
    ReceiptSummary(
      receiptType: randomText(using: &generator), scope: .random(using: &generator),
      creationDate: .random(using: &generator),
      applicationVersion: maybe(using: &generator, randomText),
      originalApplicationVersion: maybe(using: &generator, randomText),
      originalPurchaseDate: maybe(using: &generator) { .random(using: &$0) },
      expirationDate: maybe(using: &generator) { .random(using: &$0) },
      inAppCount: .random(in: .min ... .max, using: &generator))
  }
}
