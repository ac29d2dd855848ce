import AppStorePayloads
import Cryptography
import EntitlementDomain

/// Converts a receipt or an archived response to facts. Each fact gets a JSON payload, from which the
/// decoder of the payloads of a JWS reads the same fact.
struct ReceiptFacts {
  /// The document that proves the facts, shared by all of them.
  private let document: [UInt8]
  private let authority: FactAuthority
  private let origin: ReceiptPayload.Origin
  private var encoder: PurchaseEncoder
  private let digests = SHA256.Series()

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
    encoder = PurchaseEncoder(of: origin)
  }

  /// Receipts have no app transaction id. The id of the oldest purchase replaces it, which stays
  /// the same as long as that purchase is in the receipt. Ids are increasing numbers.
  private static func alias(of receipt: Receipt, _ authority: FactAuthority) -> AppTransactionID? {
    var oldest: String?
    for index in receipt.items.indices {
      guard
        let identifier = receipt.items[index].originalTransactionID?.rawValue
          ?? receipt.items[index].transactionID?.rawValue
      else { continue }
      if oldest.map({ Self.isOlder(identifier, than: $0) }) ?? true { oldest = identifier }
    }
    let prefix = authority == .receipt ? "receipt:" : "archive:"
    return oldest.map { AppTransactionID(prefix + $0) }
  }

  private static func isOlder(_ identifier: String, than other: String) -> Bool {
    (identifier.utf8.count, identifier) < (other.utf8.count, other)
  }

  /// The fact of the app, then of each purchase in order.
  mutating func all(_ receipt: Receipt) -> [Result<SignedFact, Refusal>] {
    var facts: [Result<SignedFact, Refusal>] = []
    facts.reserveCapacity(receipt.items.count + 1)
    facts.append(app(receipt))
    for item in receipt.items { facts.append(transaction(item.purchase)) }
    return facts
  }

  /// The fact of the app itself.
  func app(_ receipt: Receipt) -> Result<SignedFact, Refusal> {
    decoded(
      .appTransaction,
      ReceiptPayload.appTransaction(
        applicationVersion: receipt.applicationVersion,
        originalApplicationVersion: receipt.originalApplicationVersion,
        originalPurchaseDate: receipt.originalPurchaseDate, of: origin))
  }

  /// - Returns: a failure with ``Verdict/malformed`` when a required field is missing.
  mutating func transaction(
    _ purchase: Result<ReceiptPurchase, Refusal>
  ) -> Result<SignedFact, Refusal> {
    purchase.flatMap { purchase in
      let payload = encoder.payload(of: purchase)
      return fact(payload) { (digest) throws(PayloadError) in
        .transaction(
          try PayloadDecoder.transaction(
            purchase, of: origin, in: payload, digest: digest, authority: authority))
      }
    }
  }

  func renewalInfo(_ renewal: Result<ReceiptRenewal, Refusal>) -> Result<SignedFact, Refusal> {
    renewal.flatMap { decoded(.renewalInfo, ReceiptPayload.renewalInfo($0, of: origin)) }
  }

  private func decoded(
    _ kind: FactKind, _ payload: ReceiptPayload
  ) -> Result<SignedFact, Refusal> {
    fact(payload) { (digest) throws(PayloadError) in
      var fact = try PayloadDecoder.fact(
        kind: kind, payload: payload.bytes, digest: digest, bundleID: origin.bundleID)
      fact.authority = authority
      return fact
    }
  }

  /// - Parameter read: makes the fact of a payload with this digest.
  private func fact(
    _ payload: ReceiptPayload, _ read: (PayloadDigest) throws(PayloadError) -> Fact
  ) -> Result<SignedFact, Refusal> {
    let digest: PayloadDigest
    do {
      digest = PayloadDigest(sha256: try digests.digest(of: payload.bytes).words)
    } catch {
      return .failure(Refusal(error, as: .retryable, in: "receipt"))
    }
    do {
      let signed = SignedPayload(payload: payload.bytes, proof: .document(document))
      return .success(SignedFact(fact: try read(digest), signed: signed))
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
    return .success(
      ReceiptPurchase(
        transactionID: transactionID,
        // The first purchase of a chain is its own original.
        originalTransactionID: originalTransactionID
          ?? OriginalTransactionID(transactionID.rawValue),
        productID: productID, purchaseDate: purchaseDate,
        originalPurchaseDate: originalPurchaseDate, expiresDate: expiresDate,
        webOrderLineItemID: webOrderLineItemID, quantity: quantity,
        revocationDate: cancellationDate, offer: offer))
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
