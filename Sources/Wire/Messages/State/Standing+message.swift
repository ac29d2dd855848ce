import CEntitleMessages
import EntitlementDomain

extension Standing: MappedMessage {
  static let shape = MessageShape(entitle__v1__standing__init)

  init(reading message: Entitle__V1__Standing) throws(MessageError) {
    guard let coreState = Self.known(message.core_state, of: CoreState.self) else {
      throw Self.error(.unknownValue(field: "core_state"))
    }
    // What a newer server may send and this program does not know is read as state.proto says.
    self.init(
      coreState: coreState,
      status: Self.known(message.status, of: DetailedStatus.self) ?? .undetermined,
      productID: Self.identifier(message.product_id),
      productType: ProductType(rawValue: Self.text(message.product_type)),
      transactionID: Self.identifier(message.transaction_id),
      originalTransactionID: Self.identifier(message.original_transaction_id),
      periodStart: Milliseconds(message.period_start_ms),
      firstPurchaseAt: Milliseconds(message.first_purchase_at_ms),
      callToAction: Self.known(message.call_to_action, of: CallToAction.self) ?? .none)
    if message.expiration_reason
      != ENTITLE__V1__EXPIRATION_REASON__EXPIRATION_REASON_UNSPECIFIED
    {
      expirationReason =
        Self.known(message.expiration_reason, of: ExpirationReason.self) ?? .other
    }
    if message.has_period_end_ms_case.isSet { periodEnd = Milliseconds(message.period_end_ms) }
    if message.has_grace_end_ms_case.isSet { graceEnd = Milliseconds(message.grace_end_ms) }
    if message.has_will_renew_case.isSet { willRenew = message.will_renew != 0 }
    pendingChange = try Self.optional(message.pending_change, as: PendingChange.self)
    priceConsent = Self.known(message.price_consent, of: PriceConsent.self)
    offer = try Self.optional(message.offer, as: Offer.self)
    ownership = Self.optionalText(message.ownership).map(OwnershipType.init(rawValue:))
    storefront = Self.optionalText(message.storefront)
    revocation = try Self.optional(message.revocation, as: Revocation.self)
    commitment = try Self.optional(message.commitment, as: Commitment.self)
    notices = Self.known(message.notices, count: message.n_notices, of: Notice.self)
    renewalOffer = try Self.optional(message.renewal_offer, as: Offer.self)
    winBackOfferIDs = Self.texts(
      message.win_back_offer_ids, count: message.n_win_back_offer_ids)
  }

  func write(
    to message: inout Entitle__V1__Standing, in arena: MessageArena
  ) throws(MessageError) {
    message.core_state = Self.number(coreState)
    message.status = Self.number(status)
    message.expiration_reason = Self.number(expirationReason)
    message.product_id = try Self.text(productID, "product_id", in: arena)
    message.product_type = try Self.text(productType.rawValue, "product_type", in: arena)
    message.transaction_id = try Self.text(transactionID, "transaction_id", in: arena)
    message.original_transaction_id = try Self.text(
      originalTransactionID, "original_transaction_id", in: arena)
    message.period_start_ms = periodStart.rawValue
    if let periodEnd {
      message.has_period_end_ms_case = ENTITLE__V1__STANDING__HAS_PERIOD_END_MS_PERIOD_END_MS
      message.period_end_ms = periodEnd.rawValue
    }
    if let graceEnd {
      message.has_grace_end_ms_case = ENTITLE__V1__STANDING__HAS_GRACE_END_MS_GRACE_END_MS
      message.grace_end_ms = graceEnd.rawValue
    }
    if let willRenew {
      message.has_will_renew_case = ENTITLE__V1__STANDING__HAS_WILL_RENEW_WILL_RENEW
      message.will_renew = willRenew ? 1 : 0
    }
    if let pendingChange { message.pending_change = try pendingChange.make(in: arena) }
    message.price_consent = Self.number(priceConsent)
    if let offer { message.offer = try offer.make(in: arena) }
    message.ownership = try Self.text(ownership?.rawValue, "ownership", in: arena)
    message.storefront = try Self.text(storefront, "storefront", in: arena)
    if let revocation { message.revocation = try revocation.make(in: arena) }
    if let commitment { message.commitment = try commitment.make(in: arena) }
    message.first_purchase_at_ms = firstPurchaseAt.rawValue
    message.call_to_action = Self.number(callToAction)
    message.n_notices = notices.count
    message.notices = try Self.list(notices, as: Entitle__V1__Notice.self, in: arena)
    if let renewalOffer { message.renewal_offer = try renewalOffer.make(in: arena) }
    message.n_win_back_offer_ids = winBackOfferIDs.count
    message.win_back_offer_ids = try Self.texts(
      winBackOfferIDs, "win_back_offer_ids", in: arena)
  }
}

extension PendingChange: MappedMessage {
  static let shape = MessageShape(entitle__v1__pending_change__init)

  init(reading message: Entitle__V1__PendingChange) {
    self.init(
      productID: Self.identifier(message.product_id),
      effectiveAt: Milliseconds(message.effective_at_ms))
  }

  func write(
    to message: inout Entitle__V1__PendingChange, in arena: MessageArena
  ) throws(MessageError) {
    message.product_id = try Self.text(productID, "product_id", in: arena)
    message.effective_at_ms = effectiveAt.rawValue
  }
}

extension Offer: MappedMessage {
  static let shape = MessageShape(entitle__v1__offer__init)

  init(reading message: Entitle__V1__Offer) {
    self.init(
      type: OfferType(rawValue: message.type),
      identifier: Self.optionalText(message.identifier),
      discountType: Self.optionalText(message.discount_type)
        .map(OfferDiscountType.init(rawValue:)),
      period: Self.optionalText(message.period))
  }

  func write(to message: inout Entitle__V1__Offer, in arena: MessageArena) throws(MessageError) {
    message.type = type.rawValue
    message.identifier = try Self.text(identifier, "identifier", in: arena)
    message.discount_type = try Self.text(discountType?.rawValue, "discount_type", in: arena)
    message.period = try Self.text(period, "period", in: arena)
  }
}

extension Revocation: MappedMessage {
  static let shape = MessageShape(entitle__v1__revocation__init)

  init(reading message: Entitle__V1__Revocation) {
    self.init(
      date: Milliseconds(message.date_ms),
      reason: message.has_reason_case.isSet ? RevocationReason(rawValue: message.reason) : nil,
      type: Self.optionalText(message.type).map(RevocationType.init(rawValue:)))
  }

  func write(
    to message: inout Entitle__V1__Revocation, in arena: MessageArena
  ) throws(MessageError) {
    message.date_ms = date.rawValue
    if let reason {
      message.has_reason_case = ENTITLE__V1__REVOCATION__HAS_REASON_REASON
      message.reason = reason.rawValue
    }
    message.type = try Self.text(type?.rawValue, "type", in: arena)
  }
}

extension Commitment: MappedMessage {
  static let shape = MessageShape(entitle__v1__commitment__init)

  init(reading message: Entitle__V1__Commitment) {
    self.init(
      billingPeriodNumber: message.billing_period_number,
      totalBillingPeriods: message.total_billing_periods,
      expiresDate: message.has_expires_at_ms_case.isSet
        ? Milliseconds(message.expires_at_ms) : nil)
  }

  func write(
    to message: inout Entitle__V1__Commitment, in arena: MessageArena
  ) throws(MessageError) {
    message.billing_period_number = billingPeriodNumber
    message.total_billing_periods = totalBillingPeriods
    if let expiresDate {
      message.has_expires_at_ms_case = ENTITLE__V1__COMMITMENT__HAS_EXPIRES_AT_MS_EXPIRES_AT_MS
      message.expires_at_ms = expiresDate.rawValue
    }
  }
}
