package import EntitlementDomain

/// A response of Apple's former `verifyReceipt` that somebody kept (Apple's "App Store Receipts",
/// `responseBody`). Nobody signed it: what it says is believed on the word of whoever imports it.
package struct ArchivedResponse: Sendable {
  /// `receipt`, with the purchases of ``facts``. It has no device hash.
  package let receipt: Receipt
  /// What it says of the app, then each purchase of `in_app` and `latest_receipt_info`, then each
  /// of `pending_renewal_info`, as facts of ``FactAuthority/archivedResponse``. One without the
  /// fields that a fact cannot be without is refused by itself, with ``Verdict/malformed``.
  ///
  /// A transaction that is in both lists is told once, as `latest_receipt_info` has it, which Apple
  /// made when it answered.
  package let facts: [Result<SignedFact, Refusal>]

  /// - Parameter json: the response as it came, at most ``JSONLimits/length``.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not a response to an app receipt
  ///   that Apple found valid, ``Verdict/wrongEnvironment`` when it names no environment that is
  ///   known.
  package init(_ json: [UInt8]) throws(Refusal) {
    let response: PayloadFields
    let content: PayloadFields
    var receipt: Receipt
    let purchases: [Purchase]
    let renewals: [PayloadFields]
    let answered: Milliseconds?
    do throws(PayloadError) {
      response = try JSONDocument(json).fields()
      // 21006 too is an answer to a valid receipt, but to one of a single transaction, as iOS 6 had
      // them: those name no app.
      guard let status = try response.archivedInteger("status") else {
        throw PayloadError(.missingField, "status is missing")
      }
      guard status == 0 else {
        throw PayloadError(.missingField, "status is not 0: Apple did not find the receipt valid")
      }
      guard let object = try response.object("receipt") else {
        throw PayloadError(.missingField, "receipt is missing")
      }
      content = object
      receipt = try Receipt(
        archived: content, environment: try response.identifier("environment"))
      purchases = try Self.purchases(response, content)
      renewals = try response.objects("pending_renewal_info") ?? []
      answered = try content.archivedMoment("request_date_ms")
    } catch {
      throw Refusal(error, in: "response")
    }
    receipt.items = purchases.map(\.item)
    self.receipt = receipt
    facts = try Self.facts(receipt, purchases, renewals, response: json, answered: answered)
  }
}
