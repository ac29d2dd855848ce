package import EntitlementDomain
package import EntitlementStore
package import Workers

/// Offers of subscriptions: who may have which, and their signatures (R82–R84).
///
/// Each decision reads the store, so that an offer that was just used is not given again because an
/// answer was cached.
package struct OfferService: Sendable {
  /// Signs with the key of the app; nil when there is none.
  package typealias Sign =
    @Sendable (OfferStatement, Milliseconds) throws(OfferSigningFault) -> OfferSignature?

  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  private let evaluations: EvaluationPool
  private let counters: ServiceCounters
  private let limiter: OfferLimiter
  private let reach: JobRecords.Reach
  private let sign: Sign

  /// - Parameters:
  ///   - reach: the environments for whose apps this server has a key.
  ///   - sign: called on a thread of Swift tasks; it takes some 40 µs.
  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    evaluations: EvaluationPool = EvaluationPool(), counters: ServiceCounters,
    limiter: OfferLimiter = OfferLimiter(), reach: @escaping JobRecords.Reach,
    sign: @escaping Sign
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.evaluations = evaluations
    self.counters = counters
    self.limiter = limiter
    self.reach = reach
    self.sign = sign
  }

  // MARK: Queries

  /// The offers of an app, with the verdict on each for one customer.
  ///
  /// - Parameter product: only the offers of this product; nil: of all.
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that the catalog does not name.
  package func offers(
    of app: AppScope, for customer: CustomerSelector, product: ProductID? = nil,
    source: WorkSource = .server
  ) async throws(ServiceError) -> OfferList {
    let catalog = catalog.snapshot
    try catalog.checkServed(app)
    let products = catalog.catalog.productsWithOffers(of: app.bundleID).filter {
      $0.id == product ?? $0.id
    }
    let judged = try await judge(customer, in: app, catalog.catalog, source) { eligibility in
      products.flatMap { product in
        product.offers.map { eligibility.verdict(on: $0, of: product) }
      }
    }
    return OfferList(
      verdicts: judged.verdicts, revision: judged.record.revision, evaluatedAt: judged.now)
  }

  // MARK: Signatures

  /// Signs a promotional offer that the customer may have. It is in the audit trail when this returns.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when the catalog has no such offer of the app,
  ///   ``ServiceError/Code-swift.enum/offerRefused(_:)`` when the customer may not have it,
  ///   ``ServiceError/Code-swift.enum/offerLimit(retryAfter:)``, and
  ///   ``ServiceError/Code-swift.enum/failedPrecondition`` when the app has no key.
  package func signPromotional(
    _ request: PromotionalOfferRequest, _ audit: ChangeAudit, source: WorkSource = .server
  ) async throws(ServiceError) -> SignedOffer {
    try audit.checkOffer()
    let catalog = catalog.snapshot
    let product = try product(request.product, of: request.scope, catalog)
    guard let offer = product.offers.first(where: { $0.id == request.offer }) else {
      throw Self.unknown
    }
    try JobRecords.check(reach(request.scope.bundleID), reach: request.scope)
    let judged = try await judge(
      request.customer, naming: request.form.transactionID, in: request.scope, catalog.catalog,
      source
    ) {
      [$0.verdict(on: offer, of: product)]
    }
    let verdict = try judged.only
    if let refusal = verdict.refusal { throw refused(refusal, verdict.sentence) }
    let content: OfferStatement.Content
    switch request.form {
    case .v1(let token): content = .promotionalV1(request.offer, token)
    case .v2(let named):
      let transactionID = try await transaction(
        of: judged, request.customer, naming: named, in: request.scope)
      content = .promotionalV2(request.offer, transactionID: transactionID)
    }
    let signature = try await signed(
      OfferStatement(app: request.scope.bundleID, productID: product.id, content: content),
      for: judged, request.customer, in: request.scope, method: "SignPromotionalOffer",
      subject: [product.id.rawValue, request.offer.rawValue], audit)
    counters.add(.offerSigned(request.form.counter))
    return SignedOffer(signature: signature, verdict: verdict, allowsIntroductoryOffer: false)
  }

  /// Signs whether the customer may have the introductory offer of a product. It is in the audit trail
  /// when this returns.
  ///
  /// - Throws: as ``signPromotional(_:_:source:)``;
  ///   ``ServiceError/Code-swift.enum/offerOverrideRefused(_:)`` when the request says otherwise than
  ///   the verdict and may not, ``ServiceError/Code-swift.enum/failedPrecondition`` also when no
  ///   transaction names the customer.
  package func signIntroductory(
    _ request: IntroductoryOfferRequest, _ audit: ChangeAudit, source: WorkSource = .server
  ) async throws(ServiceError) -> SignedOffer {
    try audit.checkOffer()
    let catalog = catalog.snapshot
    let product = try product(request.product, of: request.scope, catalog)
    guard let offer = product.offers.first(where: { $0.kind == .introductory }) else {
      throw Self.unknown
    }
    try JobRecords.check(reach(request.scope.bundleID), reach: request.scope)
    let judged = try await judge(
      request.customer, naming: request.transactionID, in: request.scope, catalog.catalog, source
    ) {
      [$0.verdict(on: offer, of: product)]
    }
    let verdict = try judged.only
    let isAllowed = try decide(request.override, verdict)
    guard
      let transactionID = try await transaction(
        of: judged, request.customer, naming: request.transactionID, in: request.scope)
    else {
      throw ServiceError(
        .failedPrecondition,
        "no transaction of the customer is known, and Apple asks for one; name one, or the app "
          + "transaction, as transaction_id")
    }
    let statement = OfferStatement(
      app: request.scope.bundleID, productID: product.id,
      content: .introductory(isAllowed: isAllowed, transactionID: transactionID))
    let signature = try await signed(
      statement, for: judged, request.customer, in: request.scope,
      method: "SignIntroductoryOfferEligibility",
      subject: [product.id.rawValue, isAllowed ? "allowed" : "denied"], audit)
    counters.add(.offerSigned(isAllowed ? .introductoryAllowed : .introductoryDenied))
    return SignedOffer(
      signature: signature, verdict: verdict, allowsIntroductoryOffer: isAllowed)
  }

  /// What is signed about an introductory offer (R84).
  private func decide(
    _ override: OfferOverride?, _ verdict: OfferVerdict
  ) throws(ServiceError) -> Bool {
    guard let override, (override == .allow) != verdict.isEligible else {
      return verdict.isEligible
    }
    if let refusal = verdict.refusal, !refusal.mayBeOverridden {
      throw refused(refusal, verdict.sentence)
    }
    guard verdict.offer.overrides.contains(override) else {
      counters.add(.offerOverrideRefused)
      throw ServiceError(
        .offerOverrideRefused(verdict.refusal),
        "the catalog does not let callers \(override.rawValue) the offer: "
          + (verdict.isEligible ? "the customer may have it" : verdict.sentence))
    }
    return override == .allow
  }

  // MARK: Steps

  /// What was read of a customer, and decided.
  private struct Judged: Sendable {
    let record: CustomerRecord
    let now: Milliseconds
    let verdicts: [OfferVerdict]
    /// Of the customer's facts.
    let transactionID: String?

    var only: OfferVerdict {
      get throws(ServiceError) {
        guard let verdict = verdicts.first else {
          throw ServiceError(.internalFault, "no verdict was made")
        }
        return verdict
      }
    }

    /// A transaction that names the customer to Apple: of the facts, else the one of the selector.
    func transaction(of customer: CustomerSelector) -> String? {
      if let transactionID { return transactionID }
      return switch customer {
      case .transaction(let id): id.rawValue
      case .originalTransaction(let id): id.rawValue
      case .appTransaction(let id): id.rawValue
      case .account, .appAccountToken: nil
      }
    }
  }

  /// The transaction that names the customer to Apple: of the facts, else of the selector, else the
  /// one that the request names, which Apple may know and this server does not yet.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` when the server knows that
  ///   one, and not as this customer's: the verdict would be passed on to another person.
  private func transaction(
    of judged: Judged, _ customer: CustomerSelector, naming named: String?, in scope: AppScope
  ) async throws(ServiceError) -> String? {
    if let known = judged.transaction(of: customer) { return known }
    guard let named else { return nil }
    let selectors: [CustomerSelector] = [
      .transaction(TransactionID(named)), .appTransaction(AppTransactionID(named)),
    ]
    for selector in selectors {
      let found: CustomerRecord
      do {
        found = try await store.record(of: selector, in: scope, at: nil, .now)
      } catch {
        throw ServiceError(error)
      }
      if found.facts.isEmpty { continue }
      guard judged.record.isOfSameCustomer(as: found) else {
        throw ServiceError(
          .invalidArgument(field: "transaction_id"),
          "transaction_id is known, and not as one of this customer")
      }
      break
    }
    return named
  }

  /// - Parameter named: the transaction that the request names.
  private func judge(
    _ customer: CustomerSelector, naming named: String? = nil, in scope: AppScope,
    _ catalog: Catalog, _ source: WorkSource,
    _ verdicts: @escaping @Sendable (OfferEligibility) -> [OfferVerdict]
  ) async throws(ServiceError) -> Judged {
    let record: CustomerRecord
    do {
      record = try await store.record(of: customer, in: scope, at: nil, .now)
    } catch {
      throw ServiceError(error)
    }
    let now = clock.now()
    var asked = [customer]
    if let named { asked.insert(.transaction(TransactionID(named)), at: 0) }
    do {
      // A customer with purchases of others is evaluated twice.
      return try await evaluations.run(facts: record.itemCount, of: source) {
        [asked] isCancelled -> Judged? in
        let eligibility = OfferEligibility(
          of: record, catalog: catalog, at: now, isCancelled: isCancelled)
        return eligibility.map {
          Judged(
            record: record, now: now, verdicts: verdicts($0),
            transactionID: record.transactionForOffers(at: now, preferring: asked))
        }
      }
    } catch {
      throw ServiceError(error, of: .evaluation)
    }
  }

  private func product(
    _ id: ProductID, of scope: AppScope, _ snapshot: CatalogHolder.Snapshot
  ) throws(ServiceError) -> CatalogProduct {
    try snapshot.checkServed(scope)
    guard let product = snapshot.catalog.products[id],
      snapshot.catalog.isSold(product, by: scope.bundleID)
    else { throw Self.unknown }
    return product
  }

  private func refused(_ refusal: OfferRefusal, _ sentence: String) -> ServiceError {
    counters.add(.offerRefused(refusal))
    return ServiceError(.offerRefused(refusal), "\(sentence) (R\(refusal.rule))")
  }

  /// Signs, and writes the entry of the audit trail before the signature leaves the server.
  private func signed(
    _ statement: OfferStatement, for judged: Judged, _ customer: CustomerSelector,
    in scope: AppScope, method: String, subject: [String], _ audit: ChangeAudit
  ) async throws(ServiceError) -> OfferSignature {
    if let delay = limiter.take(scope, judged.record, customer) {
      counters.add(.offerLimited)
      throw ServiceError(
        .offerLimit(retryAfter: delay), "too many offers were signed for the customer or the app")
    }
    let signature: OfferSignature?
    do {
      signature = try sign(statement, judged.now)
    } catch {
      throw ServiceError(.internalFault, "the offer could not be signed: \(error)")
    }
    // A reload may have removed the key meanwhile.
    guard let signature else { throw ServiceError.noKey(of: scope.bundleID) }
    do {
      try await store.record(
        AuditCall(
          method: method, caller: audit.caller, scope: scope, account: judged.record.accountID,
          onBehalfOf: audit.onBehalfOf, reason: audit.reason,
          subject: (subject + [signature.nonce]).joined(separator: " "), outcome: .disclosed,
          at: judged.now))
    } catch {
      throw ServiceError(error)
    }
    return signature
  }

  private static let unknown = ServiceError(
    .notFound, "the catalog has no such offer of this app")
}

/// The offers of an app, with the verdicts for a customer.
package struct OfferList: Sendable {
  package let verdicts: [OfferVerdict]
  package let revision: Int64
  package let evaluatedAt: Milliseconds
}

/// A signed offer.
package struct SignedOffer: Sendable {
  package let signature: OfferSignature
  package let verdict: OfferVerdict
  /// What the signature says about an introductory offer.
  package let allowsIntroductoryOffer: Bool
}

/// A request for the signature of a promotional offer.
package struct PromotionalOfferRequest: Sendable {
  package enum Form: Sendable {
    case v1(AppAccountToken?)
    /// The transaction is used if it is the customer's, or the server knows none of the customer.
    case v2(transactionID: String?)

    fileprivate var counter: OfferCounter {
      switch self {
      case .v1: .promotionalV1
      case .v2: .promotionalV2
      }
    }

    fileprivate var transactionID: String? {
      switch self {
      case .v1: nil
      case .v2(let transactionID): transactionID
      }
    }
  }

  package let customer: CustomerSelector
  package let scope: AppScope
  package let product: ProductID
  package let offer: OfferID
  package let form: Form

  package init(
    customer: CustomerSelector, scope: AppScope, product: ProductID, offer: OfferID, form: Form
  ) {
    self.customer = customer
    self.scope = scope
    self.product = product
    self.offer = offer
    self.form = form
  }
}

/// A request for the signature of an introductory offer.
package struct IntroductoryOfferRequest: Sendable {
  package let customer: CustomerSelector
  package let scope: AppScope
  package let product: ProductID
  /// Nil: as judged.
  package let override: OfferOverride?
  /// Used if it is the customer's, or the server knows no transaction of the customer.
  package let transactionID: String?

  package init(
    customer: CustomerSelector, scope: AppScope, product: ProductID,
    override: OfferOverride? = nil, transactionID: String? = nil
  ) {
    self.customer = customer
    self.scope = scope
    self.product = product
    self.override = override
    self.transactionID = transactionID
  }
}

extension CustomerRecord {
  /// Whether both were read for one customer. Unlinked chains have no account.
  fileprivate func isOfSameCustomer(as other: CustomerRecord) -> Bool {
    if let accountID, accountID == other.accountID { return true }
    return !Set(facts).isDisjoint(with: other.facts)
  }
}

extension ChangeAudit {
  /// A signature needs no reason: the verdict is one.
  fileprivate func checkOffer() throws(ServiceError) {
    if !reason.isEmpty { try RequestText.check(reason, as: "reason", limit: LinkLimits.reason) }
    try RequestText.checkOnBehalfOf(onBehalfOf)
  }
}
