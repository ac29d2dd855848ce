import Cryptography
package import EntitlementDomain
import EntitlementStore

/// Notifications about one chain, with the JWS of their facts inside.
///
/// Notification `n` was signed at `(n + 1) * 1,000`. Auto-renewal is on in those with an even number.
/// The transaction inside is always the same, signed anew.
package enum NotificationArchive {
  private static let scope = readerScope
  private static let chain: OriginalTransactionID = "77"

  package struct Entry: Sendable {
    package let notification: SignedNotification
    package let facts: [SignedFact]
  }

  package static func entries(_ count: Int) throws -> [Entry] {
    try (0..<count).map { number in
      let moment = Int64(number + 1) * 1_000
      let facts = [
        try TransactionSample("77", chain.rawValue).with { $0.signedAt = moment }.signed(),
        try RenewalSample(chain).with {
          $0.signedAt = moment; $0.autoRenews = number.isMultiple(of: 2)
        }.signed(),
      ]
      return Entry(notification: notification(number, facts, at: moment), facts: facts)
    }
  }

  private static func notification(
    _ number: Int, _ facts: [SignedFact], at moment: Int64
  ) -> SignedNotification {
    let payload = Array(
      """
      {"notificationType":"DID_CHANGE_RENEWAL_STATUS","notificationUUID":"\(uuid(number))",\
      "version":"2.0","signedDate":\(moment),"data":{"bundleId":"\(scope.bundleID)",\
      "environment":"Production","signedTransactionInfo":"\(compact(facts[0]))",\
      "signedRenewalInfo":"\(compact(facts[1]))"}}
      """.utf8)
    return SignedNotification(
      record: NotificationRecord(
        uuid: uuid(number), type: "DID_CHANGE_RENEWAL_STATUS", scope: scope,
        signedDate: Milliseconds(moment), digest: PayloadSample.digest(of: payload)),
      signed: PayloadSample.signedPayload(payload))
  }

  private static func compact(_ fact: SignedFact) -> String {
    guard case .jws(let header, let signature) = fact.signed.proof else { return "" }
    let parts = [
      header, Base64Form.urlWithoutPadding.encode(fact.signed.payload),
      Base64Form.urlWithoutPadding.encode(signature),
    ]
    return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
  }
}
