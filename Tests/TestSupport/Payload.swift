/// A payload of raw JSON members, so that tests choose the spelling of values.
package struct Payload {
  package var members: [String: String]

  package init(members: [String: String]) {
    self.members = members
  }

  /// Replaces a member; nil removes it.
  package func with(_ name: String, _ json: String?) -> Payload {
    var copy = self
    copy.members[name] = json
    return copy
  }

  package var json: String {
    "{"
      + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
      .joined(separator: ",") + "}"
  }

  package var bytes: [UInt8] { Array(json.utf8) }

  /// The signing date of the samples, in milliseconds since the Unix epoch.
  package static let signedDate: Int64 = 1_704_067_200_000

  package static func transaction() -> Payload {
    Payload(members: [
      "bundleId": #""com.example.scribe""#, "environment": #""Sandbox""#,
      "originalTransactionId": #""2000000123456789""#, "transactionId": #""2000000123456790""#,
      "productId": #""com.example.scribe.pro.monthly""#,
      "type": #""Auto-Renewable Subscription""#, "purchaseDate": "1704000000000",
      "expiresDate": "1706678400000", "signedDate": "\(signedDate)",
    ])
  }

  package static func renewalInfo() -> Payload {
    Payload(members: [
      "environment": #""Sandbox""#, "originalTransactionId": #""2000000123456789""#,
      "autoRenewProductId": #""com.example.scribe.pro.monthly""#, "autoRenewStatus": "1",
      "productId": #""com.example.scribe.pro.monthly""#, "signedDate": "\(signedDate)",
    ])
  }

  package static func appTransaction() -> Payload {
    Payload(members: [
      "receiptType": #""Sandbox""#, "bundleId": #""com.example.scribe""#, "appAppleId": "0",
      "receiptCreationDate": "\(signedDate)", "originalApplicationVersion": #""1.0""#,
      "appTransactionId": #""704000000000000001""#, "originalPurchaseDate": "1375340400000",
    ])
  }
}
