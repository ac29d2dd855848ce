import AccessControl
package import EntitlementDomain
package import EntitlementService
import EntitlementStore
package import RPCServer
package import Wire

/// `entitle.v1.OfferService`: who may have which offer, and signatures of offers.
///
/// The work of a call runs in a task, on a thread of Swift's pool: a signature takes some 40 µs, which
/// an event loop should not spend.
package struct OfferEndpoint: Sendable {
  private let offers: OfferService

  package init(offers: OfferService) {
    self.offers = offers
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.getOfferEligibility, getOfferEligibility)
    router.unary(WireMethods.signPromotionalOffer, signPromotionalOffer)
    router.unary(WireMethods.signIntroductoryOfferEligibility, signIntroductoryOfferEligibility)
  }

  @Sendable
  private func getOfferEligibility(_ call: RPCCall, _ answer: RPCAnswer) {
    let source = call.source
    answer.respond(to: call, GetOfferEligibilityRequest.self) { request in
      .later {
        let list = try await offers.offers(
          of: request.scope, for: request.customer, product: request.productID, source: source)
        return try GetOfferEligibilityResponse(
          offers: list.verdicts.map { OfferEligibilityEntry($0) }, revision: list.revision,
          evaluatedAt: list.evaluatedAt
        ).encoded()
      }
    }
  }

  @Sendable
  private func signPromotionalOffer(_ call: RPCCall, _ answer: RPCAnswer) {
    let (source, caller) = (call.source, call.auditCaller)
    answer.respond(to: call, SignPromotionalOfferRequest.self) { request in
      .later {
        let signed = try await offers.signPromotional(
          PromotionalOfferRequest(
            customer: request.customer, scope: request.scope, product: request.productID,
            offer: request.offerID, form: try request.form),
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller),
          source: source)
        return try SignOfferResponse(signed).encoded()
      }
    }
  }

  @Sendable
  private func signIntroductoryOfferEligibility(_ call: RPCCall, _ answer: RPCAnswer) {
    let (source, caller) = (call.source, call.auditCaller)
    answer.respond(to: call, SignIntroductoryOfferEligibilityRequest.self) { request in
      .later {
        let signed = try await offers.signIntroductory(
          IntroductoryOfferRequest(
            customer: request.customer, scope: request.scope, product: request.productID,
            override: request.decision.override, transactionID: request.transactionID?.rawValue),
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller),
          source: source)
        return try SignOfferResponse(signed).encoded()
      }
    }
  }
}

// MARK: Messages

extension SignPromotionalOfferRequest {
  fileprivate var form: PromotionalOfferRequest.Form {
    get throws {
      switch format {
      case .v1:
        return .v1(appAccountToken)
      case .v2:
        // A JWS has no token; one that is ignored would be missed at the purchase.
        guard appAccountToken == nil else {
          throw ServiceError(
            .invalidArgument(field: "app_account_token"), "the format V2 has no app_account_token")
        }
        return .v2(transactionID: transactionID?.rawValue)
      }
    }
  }
}

extension IntroductoryDecision {
  fileprivate var override: OfferOverride? {
    switch self {
    case .asJudged: nil
    case .allow: .allow
    case .deny: .deny
    }
  }
}

extension OfferEligibilityEntry {
  package init(_ verdict: OfferVerdict) {
    self.init(
      productID: verdict.productID, offerID: verdict.offer.id, kind: verdict.offer.kind,
      isEligible: verdict.isEligible, refusal: verdict.refusal, rule: "R\(verdict.rule)",
      sentence: verdict.sentence, situation: verdict.situation, uses: verdict.uses,
      eligibleAt: verdict.eligibleAt)
  }
}

extension SignOfferResponse {
  fileprivate init(_ signed: SignedOffer) {
    self.init(
      signature: signed.signature.text, keyID: signed.signature.keyID,
      nonce: signed.signature.nonce, timestamp: signed.signature.signedAt,
      expiresAt: signed.signature.expiresAt,
      allowsIntroductoryOffer: signed.allowsIntroductoryOffer,
      verdict: OfferEligibilityEntry(signed.verdict))
  }
}
