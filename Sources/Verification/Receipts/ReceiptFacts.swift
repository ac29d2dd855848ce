import Cryptography
import EntitlementDomain

/// Makes facts of what a receipt, or an archived response, says: each is read from JSON that is
/// kept with it, by the decoder that reads everything else.
struct ReceiptFacts {
  /// What proves the facts: all of them share it.
  private let document: [UInt8]
  private let authority: FactAuthority
  private let origin: ReceiptPayload.Origin

  /// - Parameters:
  ///   - receipt: of a known environment.
  ///   - signedDate: when it was said.
  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment`` for a receipt type that is not known.
  init(
    of receipt: Receipt, in document: [UInt8], authority: FactAuthority, signedDate: Milliseconds
  ) throws(Refusal) {
    self.document = document
    self.authority = authority
    origin = ReceiptPayload.Origin(
      bundleID: receipt.bundleID, environment: try receipt.knownEnvironment(),
      signedDate: signedDate, appTransactionID: Self.alias(of: receipt, authority))
  }

  /// Receipts name no Apple account. Their oldest purchase does, as long as it is in them: ids are
  /// numbers that grow.
  private static func alias(of receipt: Receipt, _ authority: FactAuthority) -> AppTransactionID? {
    let identifiers = receipt.items.compactMap {
      $0.originalTransactionID?.rawValue ?? $0.transactionID?.rawValue
    }
    let oldest = identifiers.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    let prefix = authority == .receipt ? "receipt:" : "archive:"
    return oldest.map { AppTransactionID(prefix + $0) }
  }

  /// What is said of the app itself.
  func app(_ receipt: Receipt) -> Result<SignedFact, Refusal> {
    fact(
      .appTransaction,
      ReceiptPayload.appTransaction(
        applicationVersion: receipt.applicationVersion,
        originalApplicationVersion: receipt.originalApplicationVersion,
        originalPurchaseDate: receipt.originalPurchaseDate, of: origin))
  }

  /// - Returns: a failure with ``Verdict/malformed`` when it lacks what a fact cannot be without.
  func transaction(_ purchase: Result<ReceiptPurchase, Refusal>) -> Result<SignedFact, Refusal> {
    purchase.flatMap { fact(.transaction, ReceiptPayload.transaction($0, of: origin)) }
  }

  func renewalInfo(_ renewal: Result<ReceiptRenewal, Refusal>) -> Result<SignedFact, Refusal> {
    renewal.flatMap { fact(.renewalInfo, ReceiptPayload.renewalInfo($0, of: origin)) }
  }

  private func fact(_ kind: FactKind, _ payload: [UInt8]) -> Result<SignedFact, Refusal> {
    let digest: PayloadDigest
    do {
      digest = PayloadDigest(words: try SHA256.digest(of: payload).words)
    } catch {
      return .failure(Refusal(error, as: .retryable, in: "receipt"))
    }
    do {
      var fact = try PayloadDecoder.fact(
        kind: kind, payload: payload, digest: digest, bundleID: origin.bundleID)
      fact.authority = authority
      let signed = SignedPayload(payload: payload, proof: .document(document))
      return .success(SignedFact(fact: fact, signed: signed))
    } catch {
      return .failure(Refusal(error, in: "receipt"))
    }
  }
}

extension Receipt {
  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment``.
  func knownEnvironment() throws(Refusal) -> StoreEnvironment {
    guard let environment else {
      throw Refusal(.wrongEnvironment, "the receipt type is not one that is known")
    }
    return environment
  }
}

extension ReceiptItem {
  /// - Returns: a failure with ``Verdict/malformed`` without transaction id, product id or purchase
  ///   date.
  var purchase: Result<ReceiptPurchase, Refusal> {
    guard let transactionID else { return .failure(Self.missing("transaction id")) }
    guard let productID else { return .failure(Self.missing("product id")) }
    guard let purchaseDate else { return .failure(Self.missing("purchase date")) }
    var purchase = ReceiptPurchase(
      transactionID: transactionID,
      // The first purchase of a chain is its own original.
      originalTransactionID: originalTransactionID
        ?? OriginalTransactionID(transactionID.rawValue),
      productID: productID, purchaseDate: purchaseDate)
    purchase.originalPurchaseDate = originalPurchaseDate
    purchase.expiresDate = expiresDate
    purchase.webOrderLineItemID = webOrderLineItemID
    purchase.quantity = quantity
    purchase.revocationDate = cancellationDate
    if isTrialPeriod == true {
      purchase.offer = Offer(type: .introductory, discountType: .freeTrial)
    } else if isInIntroductoryOfferPeriod == true {
      purchase.offer = Offer(type: .introductory)
    }
    return .success(purchase)
  }

  private static func missing(_ field: String) -> Refusal {
    Refusal(.malformed, "the purchase has no \(field)")
  }
}
