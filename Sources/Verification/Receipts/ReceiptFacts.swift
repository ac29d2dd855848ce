import AppStorePayloads
import Cryptography
import EntitlementDomain

/// Converts a receipt or an archived response to facts. Each fact gets a JSON payload, from which the
/// decoder of the payloads of a JWS reads the same fact.
struct ReceiptFacts: ~Copyable {
  /// The document that proves the facts, shared by all of them.
  private let document: [UInt8]
  private let authority: FactAuthority
  private let origin: ReceiptPayload.Origin
  private let machine: SigningMachine?
  private var encoder: PurchaseEncoder
  private let digests = SHA256.Series()

  /// - Parameters:
  ///   - receipt: a receipt of a known environment.
  ///   - signedDate: the date of the receipt or response.
  ///   - machine: the developer's machine that signed it (R94); nil for the App Store.
  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment`` for an unknown receipt type.
  init(
    of receipt: Receipt, in document: [UInt8], authority: FactAuthority, signedDate: Milliseconds,
    machine: SigningMachine? = nil
  ) throws(Refusal) {
    self.document = document
    self.authority = authority
    self.machine = machine
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
    for index in receipt.items.indices {
      facts.append(transaction(receipt.items.purchase(at: index)))
    }
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
    switch purchase {
    case .failure(let refusal): return .failure(refusal)
    case .success(let purchase): return transaction(purchase)
    }
  }

  // Without a closure, for which the purchase would be copied.
  private mutating func transaction(_ purchase: ReceiptPurchase) -> Result<SignedFact, Refusal> {
    let payload = encoder.payload(of: purchase)
    do throws(Refusal) {
      let digest = try digest(of: payload)
      do throws(PayloadError) {
        let fact = try PayloadDecoder.transaction(
          purchase, of: origin, in: payload, digest: digest, authority: authority)
        return .success(signed(.transaction(fact), in: payload))
      } catch {
        throw Refusal(error, in: "receipt")
      }
    } catch {
      return .failure(error)
    }
  }

  func renewalInfo(_ renewal: Result<ReceiptRenewal, Refusal>) -> Result<SignedFact, Refusal> {
    renewal.flatMap { decoded(.renewalInfo, ReceiptPayload.renewalInfo($0, of: origin)) }
  }

  private func decoded(
    _ kind: FactKind, _ payload: ReceiptPayload
  ) -> Result<SignedFact, Refusal> {
    do throws(Refusal) {
      let digest = try digest(of: payload)
      do throws(PayloadError) {
        let fact = try PayloadDecoder.fact(
          kind: kind, payload: payload.bytes, digest: digest, bundleID: origin.bundleID,
          authority: authority)
        return .success(signed(fact, in: payload))
      } catch {
        throw Refusal(error, in: "receipt")
      }
    } catch {
      return .failure(error)
    }
  }

  private func digest(of payload: ReceiptPayload) throws(Refusal) -> PayloadDigest {
    do throws(CryptographyError) {
      return PayloadDigest(sha256: try digests.digest(of: payload.bytes).words)
    } catch {
      throw Refusal(error, as: .retryable, in: "receipt")
    }
  }

  private func signed(_ fact: Fact, in payload: ReceiptPayload) -> SignedFact {
    SignedFact(
      fact: machine.map(fact.marked(by:)) ?? fact,
      signed: SignedPayload(payload: payload.bytes, proof: .document(document)))
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

// Of an array, whose items are read where they are. Of an item alone, the whole item would be copied
// first, and all its texts retained.
extension [ReceiptItem] {
  /// - Returns: a failure with ``Verdict/malformed`` without transaction id, product id or purchase
  ///   date.
  func purchase(at index: Int) -> Result<ReceiptPurchase, Refusal> {
    guard let transactionID = self[index].transactionID else {
      return .failure(Self.missing("transaction id"))
    }
    guard let productID = self[index].productID else {
      return .failure(Self.missing("product id"))
    }
    guard let purchaseDate = self[index].purchaseDate else {
      return .failure(Self.missing("purchase date"))
    }
    return .success(
      ReceiptPurchase(
        transactionID: transactionID,
        // The first purchase of a chain is its own original.
        originalTransactionID: self[index].originalTransactionID
          ?? OriginalTransactionID(transactionID.rawValue),
        productID: productID, purchaseDate: purchaseDate,
        originalPurchaseDate: self[index].originalPurchaseDate,
        expiresDate: self[index].expiresDate,
        webOrderLineItemID: self[index].webOrderLineItemID, quantity: self[index].quantity,
        revocationDate: self[index].cancellationDate, offer: offer(at: index)))
  }

  /// The promotional offer precedes the flags, which are set for any trial.
  private func offer(at index: Int) -> Offer? {
    let isTrialPeriod = self[index].isTrialPeriod == true
    let discount: OfferDiscountType? = isTrialPeriod ? .freeTrial : nil
    if let promotionalOfferID = self[index].promotionalOfferID {
      return Offer(type: .promotional, identifier: promotionalOfferID, discountType: discount)
    }
    guard isTrialPeriod || self[index].isInIntroductoryOfferPeriod == true else { return nil }
    return Offer(type: .introductory, discountType: discount)
  }

  private static func missing(_ field: String) -> Refusal {
    Refusal(.malformed, "the purchase has no \(field)")
  }
}

extension ReceiptItem {
  /// As of ``Swift/Array/purchase(at:)``.
  var purchase: Result<ReceiptPurchase, Refusal> { [self].purchase(at: 0) }
}
