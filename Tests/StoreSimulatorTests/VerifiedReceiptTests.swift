import EntitlementDomain
import Foundation
import StoreSimulator
import Testing
import Verification

@Suite("Verifiers that trust the simulator's root accept its receipts")
struct VerifiedReceiptTests {
  private static let authority = SignedReceiptTests.authority
  private static let policy = VerificationPolicy(apps: [
    VerificationPolicy.App(
      bundleID: SimulatedApp.bundleID, appAppleID: SimulatedApp.appAppleID,
      environments: [.production, .sandbox])
  ])

  private static func verifier() throws -> ReceiptVerifier {
    var anchors = TrustAnchors.apple
    anchors.trust(try authority.get().rootFingerprint, for: TrustAnchor.allEnvironments)
    return ReceiptVerifier(anchors: anchors)
  }

  @Test(
    "Every life cycle's receipt verifies, with every field as it was written",
    arguments: LifeCycle.allCases)
  func everything(lifeCycle: LifeCycle) throws {
    let authority = try Self.authority.get()
    let verifier = try Self.verifier()
    for day in [-1, 0, lifeCycle.characteristicDay, lifeCycle.characteristicDay + 40] {
      let receipt = TimelineReceiptTests.receipt(
        lifeCycle, day: day, environment: day == 0 ? .sandbox : .production)
      let verified = try verifier.verify(authority.sign(receipt), policy: Self.policy)
      let told = verified.receipt
      #expect(told.receiptType == receipt.receiptType)
      #expect(told.bundleID == receipt.bundleID)
      #expect(told.creationDate == receipt.creationDate)
      #expect(told.applicationVersion == receipt.applicationVersion)
      #expect(told.originalApplicationVersion == receipt.originalApplicationVersion)
      #expect(told.originalPurchaseDate == receipt.originalPurchaseDate)
      #expect(told.opaqueValue == receipt.opaqueValue)
      #expect(told.unknownAttributes.count == receipt.extraAttributes.count)
      #expect(
        Self.sorted(told.items.map(Fields.init)) == Self.sorted(receipt.items.map(Fields.init)))
      let facts = try verified.facts.map { try $0.get().fact }
      #expect(facts.count == 1 + receipt.items.count)
      #expect(facts.allSatisfy { $0.authority == .receipt })
    }
  }

  @Test(
    "187 purchases are 187 facts, under either hash, in DER and in base64",
    arguments: ReceiptAuthority.Digest.allCases)
  func large(digest: ReceiptAuthority.Digest) throws {
    let signed = try Self.authority.get().sign(
      SignedReceiptTests.receipt(itemCount: 187), digest: digest)
    let verifier = try Self.verifier()
    for form in [signed, Array(Data(signed).base64EncodedData(options: .lineLength76Characters))] {
      let verified = try verifier.verify(form, policy: Self.policy)
      let transactions = try verified.facts.compactMap { result in
        if case .transaction(let fact) = try result.get().fact { fact.transactionID } else { nil }
      }
      #expect(Set(transactions).count == 187)
    }
  }

  @Test("A receipt is valid for its own device only")
  func device() throws {
    let receipt = SignedReceiptTests.receipt()
    let signed = try Self.authority.get().sign(receipt)
    let verifier = try Self.verifier()
    _ = try verifier.verify(
      signed, policy: Self.policy, deviceIdentifier: receipt.deviceIdentifier)
    let other = SimulatedReceipt(creationDate: receipt.creationDate, seed: 2).deviceIdentifier
    let error = #expect(throws: Refusal.self) {
      try verifier.verify(signed, policy: Self.policy, deviceIdentifier: other)
    }
    #expect(error?.verdict == .wrongDevice)
  }

  @Test("Other verifiers refuse them")
  func untrusted() throws {
    let signed = try Self.authority.get().sign(SignedReceiptTests.receipt())
    let error = #expect(throws: Refusal.self) {
      try ReceiptVerifier(anchors: .apple).verify(signed, policy: Self.policy)
    }
    #expect(error?.verdict == .untrustedChain)
  }

  @Test("An archived response has the same purchases", arguments: LifeCycle.allCases)
  func archive(lifeCycle: LifeCycle) throws {
    let receipt = TimelineReceiptTests.receipt(lifeCycle, day: lifeCycle.characteristicDay)
    let signed = try Self.authority.get().sign(receipt)
    let response = try ArchivedResponse(receipt.archivedResponse(latestReceipt: signed))
    #expect(response.receipt.bundleID == receipt.bundleID)
    #expect(response.receipt.creationDate == receipt.creationDate)
    #expect(response.receipt.environment == .production)
    #expect(response.receipt.items.map(Fields.init) == receipt.items.map(Fields.init))
    let facts = try response.facts.map { try $0.get().fact }
    #expect(facts.count == 1 + receipt.items.count + receipt.renewals.count)
    #expect(facts.allSatisfy { $0.authority == .archivedResponse })
    for case .renewalInfo(let fact) in facts {
      let renewal = receipt.renewals.first {
        $0.originalTransactionID == fact.originalTransactionID
      }
      #expect(fact.priceIncreaseStatus == renewal?.priceIncreaseStatus)
      #expect(fact.expirationIntent == renewal?.expirationIntent)
    }
  }

  /// The fields of a purchase that both the simulator and the verifier have.
  private struct Fields: Equatable {
    let quantity: Int64?
    let productID: ProductID?
    let identifiers: [String?]
    let dates: [Milliseconds?]
    let flags: [Bool]

    init(_ item: SimulatedReceiptItem) {
      quantity = item.quantity
      productID = item.productID
      identifiers = [
        item.transactionID?.rawValue, item.originalTransactionID?.rawValue,
        item.webOrderLineItemID?.rawValue, item.promotionalOfferID,
      ]
      dates = [
        item.purchaseDate, item.originalPurchaseDate, item.expiresDate, item.cancellationDate,
      ]
      flags = [item.isTrialPeriod, item.isInIntroductoryOfferPeriod]
    }

    init(_ item: ReceiptItem) {
      quantity = item.quantity
      productID = item.productID
      identifiers = [
        item.transactionID?.rawValue, item.originalTransactionID?.rawValue,
        item.webOrderLineItemID?.rawValue, item.promotionalOfferID,
      ]
      dates = [
        item.purchaseDate, item.originalPurchaseDate, item.expiresDate, item.cancellationDate,
      ]
      // An archived response leaves the second out where there is no period.
      flags = [item.isTrialPeriod ?? false, item.isInIntroductoryOfferPeriod ?? false]
    }
  }

  /// Short purchases come first in a receipt.
  private static func sorted(_ fields: [Fields]) -> [Fields] {
    fields.sorted { ($0.identifiers[0] ?? "") < ($1.identifiers[0] ?? "") }
  }
}
