import AppStorePayloads
import Cryptography
import EntitlementDomain
import EntitlementStore

/// The facts inside a notification that was verified.
enum NotificationFacts {
  /// - Parameter payload: the JSON of the notification.
  /// - Returns: the transaction and the renewal info, as far as present. A payload that
  ///   cannot be decoded is left out.
  /// - Throws: ``StoreError/Code/internalFault`` when hashing fails.
  static func facts(inside payload: [UInt8]) throws(StoreError) -> [SignedFact] {
    guard let fields = try? PayloadFields(json: payload),
      let notification = try? PayloadDecoder.notification(fields),
      let bundleID = notification.bundleID
    else { return [] }
    var facts: [SignedFact] = []
    for (kind, jws) in [
      (FactKind.transaction, notification.signedTransactionInfo),
      (.renewalInfo, notification.signedRenewalInfo),
    ] {
      guard let jws, let signed = SignedPayload(compactJWS: jws) else { continue }
      let digest = try StoredPayload.digest(of: signed.payload)
      if let fact = try? PayloadDecoder.fact(
        kind: kind, payload: signed.payload, digest: digest, bundleID: bundleID)
      {
        facts.append(SignedFact(fact: fact, signed: signed))
      }
    }
    return facts
  }
}

extension SignedPayload {
  /// - Returns: nil unless the text has three parts in base64url.
  fileprivate init?(compactJWS text: [UInt8]) {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = try? Base64Form.urlWithoutPadding.decode(parts[1]),
      let signature = try? Base64Form.urlWithoutPadding.decode(parts[2])
    else { return nil }
    self.init(header: Array(parts[0]), payload: payload, signature: signature)
  }
}
