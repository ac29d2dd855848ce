import CEntitleMessages
import EntitlementDomain

extension EntitlementSource {
  init(reading message: Entitle__V1__EntitlementSource) throws(MessageError) {
    self.init(
      origin: try Self.origin(message), since: Milliseconds(message.since_ms),
      until: message.has_until_ms_case.isSet ? Milliseconds(message.until_ms) : nil,
      evidence: Self.optional(message.evidence, as: FactAuthority.self))
  }

  /// Requires exactly one origin: a source without one has no meaning.
  private static func origin(
    _ message: Entitle__V1__EntitlementSource
  ) throws(MessageError) -> Origin {
    let transaction: TransactionID? = optionalIdentifier(message.transaction_id)
    let chain: OriginalTransactionID? = optionalIdentifier(message.original_transaction_id)
    let product: ProductID? = optionalIdentifier(message.product_id)
    let isPurchase = transaction != nil || chain != nil || product != nil
    let grant: GrantID? = optionalIdentifier(message.grant_id)
    let rule: GrandfatheringRuleID? = optionalIdentifier(message.grandfathering_rule_id)
    if let rule {
      guard grant == nil, !isPurchase else {
        throw error(.conflicting(field: "grandfathering_rule_id"))
      }
      return .grandfathering(rule)
    }
    if let grant {
      guard !isPurchase else { throw error(.conflicting(field: "grant_id")) }
      return .grant(grant)
    }
    guard let transaction else { throw error(.missing(field: "transaction_id")) }
    guard let chain else { throw error(.missing(field: "original_transaction_id")) }
    guard let product else { throw error(.missing(field: "product_id")) }
    return .purchase(transaction, chain: chain, product: product)
  }

  func write(
    to message: inout Entitle__V1__EntitlementSource, in arena: MessageArena
  ) throws(MessageError) {
    switch origin {
    case .purchase(let transaction, let chain, let product):
      message.transaction_id = try Self.text(transaction, "transaction_id", in: arena)
      message.original_transaction_id = try Self.text(
        chain, "original_transaction_id", in: arena)
      message.product_id = try Self.text(product, "product_id", in: arena)
    case .grant(let id):
      message.grant_id = try Self.text(id, "grant_id", in: arena)
    case .grandfathering(let id):
      message.grandfathering_rule_id = try Self.text(id, "grandfathering_rule_id", in: arena)
    }
    message.since_ms = since.rawValue
    if let until {
      message.has_until_ms_case = ENTITLE__V1__ENTITLEMENT_SOURCE__HAS_UNTIL_MS_UNTIL_MS
      message.until_ms = until.rawValue
    }
    if let evidence { message.evidence = evidence.number }
  }
}

extension FileIssue {
  init(reading message: Entitle__V1__FileIssue) {
    self.init(
      severity: message.error != 0 ? .error : .warning, line: Int(message.line),
      column: Int(message.column), field: Self.text(message.field),
      message: Self.text(message.message))
  }

  func write(
    to message: inout Entitle__V1__FileIssue, in arena: MessageArena
  ) throws(MessageError) {
    message.error = severity == .error ? 1 : 0
    message.line = Int32(clamping: line)
    message.column = Int32(clamping: column)
    message.field = try Self.text(field, "field", in: arena)
    message.message = try Self.text(self.message, "message", in: arena)
  }
}

extension Decision {
  /// Any number is accepted as a rule: a newer server may have more rules.
  init(reading message: Entitle__V1__Decision) {
    self.init(rule: Rule(Int(message.rule)), sentence: Self.text(message.sentence))
  }

  func write(
    to message: inout Entitle__V1__Decision, in arena: MessageArena
  ) throws(MessageError) {
    message.rule = Int32(clamping: rule.number)
    message.sentence = try Self.text(sentence, "sentence", in: arena)
  }
}
