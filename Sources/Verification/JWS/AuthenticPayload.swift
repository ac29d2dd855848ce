import AppStorePayloads
import Cryptography
package import EntitlementDomain
package import JSON

/// A payload with a valid signature that the policy accepts. It is not decoded into facts yet.
package struct AuthenticPayload: Sendable {
  package let claims: PayloadClaims
  /// The payload's JSON.
  package let document: JSONDocument
  package let signed: SignedPayload
  let fields: PayloadFields
  /// The verified payloads inside a notification, in the order transaction, renewal info, app
  /// transaction.
  package let inner: [AuthenticPayload]
  /// The certificate chains of the payload and of its inner payloads, without duplicates.
  package let chains: [CertificateChain]
  /// The developer's machine that signed it (R94); nil for the App Store.
  let machine: SigningMachine?

  package var kind: SignedKind { claims.kind }
}

extension AuthenticPayload {
  /// Decodes the payload into facts. Those of a developer's machine get its mark (R94).
  ///
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when a required field is missing,
  ///   ``Verdict/wrongEnvironment`` when the payload has no environment.
  func content() throws(Refusal) -> VerifiedPayload.Content {
    let digest = try payloadDigest()
    do {
      switch kind {
      case .transaction:
        let fact = try PayloadDecoder.transaction(fields, digest: digest)
        return .transaction(machine.map(fact.marked(by:)) ?? fact)
      case .renewalInfo:
        return .renewalInfo(try UnboundRenewalInfo(fields, digest: digest, machine: machine))
      case .appTransaction:
        let fact = try PayloadDecoder.appTransaction(fields, digest: digest)
        return .appTransaction(machine.map(fact.marked(by:)) ?? fact)
      case .notification:
        break
      }
    } catch {
      throw Refusal(error, in: "payload")
    }
    return .notification(try notification(digest: digest))
  }

  private func notification(digest: PayloadDigest) throws(Refusal) -> VerifiedNotification {
    guard let payload = claims.notification else {
      // The claims of a notification always contain it.
      throw Refusal(.malformed, "payload: not a notification")
    }
    let scope = try notificationScope()
    let record = NotificationRecord(
      uuid: payload.uuid, type: payload.type, subtype: payload.subtype, scope: scope,
      status: payload.status, signedDate: payload.signedDate, digest: digest)
    var facts: [SignedKind: SignedFact] = [:]
    for payload in inner {
      do {
        facts[payload.kind] = SignedFact(
          fact: try payload.fact(in: scope), signed: payload.signed)
      } catch {
        throw error.inside(payload.kind)
      }
    }
    return VerifiedNotification(
      record: record, transaction: facts[.transaction], renewalInfo: facts[.renewalInfo],
      appTransaction: facts[.appTransaction],
      consumptionRequestReason: payload.consumptionRequestReason)
  }

  private func notificationScope() throws(Refusal) -> AppScope {
    guard let bundleID = claims.bundleID else {
      throw Refusal(.wrongApp, "the notification has no bundle id")
    }
    guard case .known(let environment) = claims.environment else {
      throw Refusal(.wrongEnvironment, "the notification has no environment")
    }
    return AppScope(bundleID: bundleID, environment: environment)
  }

  private func fact(in scope: AppScope) throws(Refusal) -> Fact {
    switch try content() {
    case .transaction(let fact): return .transaction(fact)
    case .renewalInfo(let info): return .renewalInfo(info.bound(to: scope.bundleID))
    case .appTransaction(let fact): return .appTransaction(fact)
    case .notification:
      // Verification rejects nested notifications.
      throw Refusal(.malformed, "payload: a notification inside a notification")
    }
  }

  private func payloadDigest() throws(Refusal) -> PayloadDigest {
    do {
      return PayloadDigest(sha256: try SHA256.digest(of: signed.payload).words)
    } catch {
      throw Refusal(error, as: .retryable, in: "payload")
    }
  }
}
