import CEntitleMessages
import EntitlementDomain

extension CustomerState: MappedMessage {
  static let shape = MessageShape(entitle__v1__customer_state__init)

  init(reading message: Entitle__V1__CustomerState) throws(MessageError) {
    // R27 has three core states and no room for a fourth, so there is nothing to read another as.
    guard let coreState = Self.known(message.core_state, of: CoreState.self) else {
      throw Self.error(.unknownValue(field: "core_state"))
    }
    self.init(
      scope: try Self.scope(bundleID: message.bundle_id, environment: message.environment),
      accountID: Self.optionalIdentifier(message.account_id),
      revision: message.revision,
      evaluatedAt: Milliseconds(message.evaluated_at_ms),
      coreState: coreState,
      callsToAction: Self.known(
        message.calls_to_action, count: message.n_calls_to_action, of: CallToAction.self),
      entitlements: try Self.list(
        message.entitlements, count: message.n_entitlements, of: EntitlementState.self),
      products: try Self.list(
        message.products, count: message.n_products, of: ProductState.self),
      groups: try Self.list(message.groups, count: message.n_groups, of: GroupState.self),
      grandfathering: try Self.list(
        message.grandfathering, count: message.n_grandfathering, of: GrandfatheringState.self),
      nextTransitionAt: message.has_next_transition_at_ms_case.isSet
        ? Milliseconds(message.next_transition_at_ms) : nil)
  }

  func write(
    to message: inout Entitle__V1__CustomerState, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.revision = revision
    message.evaluated_at_ms = evaluatedAt.rawValue
    message.core_state = Self.number(coreState)
    message.n_calls_to_action = callsToAction.count
    message.calls_to_action = try Self.list(
      callsToAction, as: Entitle__V1__CallToAction.self, in: arena)
    message.n_entitlements = entitlements.count
    message.entitlements = try Self.list(entitlements, in: arena)
    message.n_products = products.count
    message.products = try Self.list(products, in: arena)
    message.n_groups = groups.count
    message.groups = try Self.list(groups, in: arena)
    if let nextTransitionAt {
      message.has_next_transition_at_ms_case =
        ENTITLE__V1__CUSTOMER_STATE__HAS_NEXT_TRANSITION_AT_MS_NEXT_TRANSITION_AT_MS
      message.next_transition_at_ms = nextTransitionAt.rawValue
    }
    message.n_grandfathering = grandfathering.count
    message.grandfathering = try Self.list(grandfathering, in: arena)
  }
}

extension ProductState: MappedMessage {
  static let shape = MessageShape(entitle__v1__product_state__init)

  init(reading message: Entitle__V1__ProductState) throws(MessageError) {
    self.init(
      productID: Self.identifier(message.product_id),
      groupID: Self.optionalIdentifier(message.group_id),
      isInCatalog: message.in_catalog != 0,
      standing: try Self.required(message.standing, as: Standing.self, "standing"))
  }

  func write(
    to message: inout Entitle__V1__ProductState, in arena: MessageArena
  ) throws(MessageError) {
    message.product_id = try Self.text(productID, "product_id", in: arena)
    message.group_id = try Self.text(groupID, "group_id", in: arena)
    message.in_catalog = isInCatalog ? 1 : 0
    message.standing = try standing.make(in: arena)
  }
}

extension GroupState: MappedMessage {
  static let shape = MessageShape(entitle__v1__group_state__init)

  init(reading message: Entitle__V1__GroupState) throws(MessageError) {
    self.init(
      groupID: Self.identifier(message.group_id),
      standing: try Self.required(message.standing, as: Standing.self, "standing"),
      trialUsed: message.trial_used != 0,
      introductoryOfferUsed: message.introductory_offer_used != 0)
  }

  func write(
    to message: inout Entitle__V1__GroupState, in arena: MessageArena
  ) throws(MessageError) {
    message.group_id = try Self.text(groupID, "group_id", in: arena)
    message.standing = try standing.make(in: arena)
    message.trial_used = trialUsed ? 1 : 0
    message.introductory_offer_used = introductoryOfferUsed ? 1 : 0
  }
}
