import AppStorePayloads
import Cryptography
import EntitlementDomain

/// Converts a receipt or an archived response to facts. Each fact gets a JSON payload, which is
/// read by the same decoder as the payload of a JWS.
struct ReceiptFacts {
  /// The document that proves the facts, shared by all of them.
  private let document: [UInt8]
  private let authority: FactAuthority
  private let origin: ReceiptPayload.Origin

  /// - Parameters:
  ///   - receipt: a receipt of a known environment.
  ///   - signedDate: the date of the receipt or response.
  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment`` for an unknown receipt type.
  init(
    of receipt: Receipt, in document: [UInt8], authority: FactAuthority, signedDate: Milliseconds
  ) throws(Refusal) {
    self.document = document
    self.authority = authority
    origin = ReceiptPayload.Origin(
      bundleID: receipt.bundleID, environment: try receipt.knownEnvironment(),
      signedDate: signedDate, appTransactionID: Self.alias(of: receipt, authority))
  }

  /// Receipts have no app transaction id. The id of the oldest purchase replaces it, which stays
  /// the same as long as that purchase is in the receipt. Ids are increasing numbers.
  private static func alias(of receipt: Receipt, _ authority: FactAuthority) -> AppTransactionID? {
    let identifiers = receipt.items.compactMap {
      $0.originalTransactionID?.rawValue ?? $0.transactionID?.rawValue
    }
    let oldest = identifiers.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    let prefix = authority == .receipt ? "receipt:" : "archive:"
    return oldest.map { AppTransactionID(prefix + $0) }
  }

  /// The fact of the app itself.
  func app(_ receipt: Receipt) -> Result<SignedFact, Refusal> {
    fact(
      .appTransaction,
      ReceiptPayload.appTransaction(
        applicationVersion: receipt.applicationVersion,
        originalApplicationVersion: receipt.originalApplicationVersion,
        originalPurchaseDate: receipt.originalPurchaseDate, of: origin))
  }

  /// - Returns: a failure with ``Verdict/malformed`` when a required field is missing.
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
      throw Refusal(.wrongEnvironment, "the receipt type is not known")
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
    purchase.offer = offer
    return .success(purchase)
  }

  /// The promotional offer precedes the flags, which are set for any trial.
  private var offer: Offer? {
    let discount: OfferDiscountType? = isTrialPeriod == true ? .freeTrial : nil
    if let promotionalOfferID {
      return Offer(type: .promotional, identifier: promotionalOfferID, discountType: discount)
    }
    guard isTrialPeriod == true || isInIntroductoryOfferPeriod == true else { return nil }
    return Offer(type: .introductory, discountType: discount)
  }

  private static func missing(_ field: String) -> Refusal {
    Refusal(.malformed, "the purchase has no \(field)")
  }
}
