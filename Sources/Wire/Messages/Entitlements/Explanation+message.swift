import CEntitleMessages
import EntitlementDomain

extension EntitlementExplanation: MappedMessage {
  static let shape = MessageShape(entitle__v1__entitlement_explanation__init)

  init(reading message: Entitle__V1__EntitlementExplanation) throws(MessageError) {
    self.init(
      entitlementID: Self.identifier(message.entitlement_id),
      isConferred: message.conferred != 0,
      reasoning: try Self.required(message.reasoning, as: Reasoning.self, "reasoning"))
  }

  func write(
    to message: inout Entitle__V1__EntitlementExplanation, in arena: MessageArena
  ) throws(MessageError) {
    message.entitlement_id = try Self.text(entitlementID, "entitlement_id", in: arena)
    message.conferred = isConferred ? 1 : 0
    message.reasoning = try reasoning.make(in: arena)
  }
}

extension GroupExplanation: MappedMessage {
  static let shape = MessageShape(entitle__v1__group_explanation__init)

  init(reading message: Entitle__V1__GroupExplanation) throws(MessageError) {
    self.init(
      groupID: Self.identifier(message.group_id),
      status: Self.known(message.status, of: DetailedStatus.self) ?? .undetermined,
      reasoning: try Self.required(message.reasoning, as: Reasoning.self, "reasoning"))
  }

  func write(
    to message: inout Entitle__V1__GroupExplanation, in arena: MessageArena
  ) throws(MessageError) {
    message.group_id = try Self.text(groupID, "group_id", in: arena)
    message.status = Self.number(status)
    message.reasoning = try reasoning.make(in: arena)
  }
}

extension Reasoning: MappedMessage {
  static let shape = MessageShape(entitle__v1__reasoning__init)

  init(reading message: Entitle__V1__Reasoning) throws(MessageError) {
    self.init(
      decision: try Self.required(message.decision, as: Decision.self, "decision"),
      considered: try Self.list(
        message.considered, count: message.n_considered, of: ConsideredItem.self,
        where: ConsideredItem.isKnown),
      changes: try Self.list(
        message.changes, count: message.n_changes, of: ExpectedChange.self))
  }

  func write(
    to message: inout Entitle__V1__Reasoning, in arena: MessageArena
  ) throws(MessageError) {
    message.decision = try decision.make(in: arena)
    message.n_considered = considered.count
    message.considered = try Self.list(considered, in: arena)
    message.n_changes = changes.count
    message.changes = try Self.list(changes, in: arena)
  }
}

extension Decision: MappedMessage {
  static let shape = MessageShape(entitle__v1__decision__init)

  /// Any number is a rule: a newer server may know more of them.
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

extension ConsideredItem: MappedMessage {
  static let shape = MessageShape(entitle__v1__considered_item__init)

  /// False for one of a kind that only a newer server knows: lists leave it out.
  static func isKnown(_ message: Entitle__V1__ConsideredItem) -> Bool {
    known(message.kind, of: Kind.self) != nil
  }

  init(reading message: Entitle__V1__ConsideredItem) throws(MessageError) {
    guard let kind = Self.known(message.kind, of: Kind.self) else {
      throw Self.error(.unknownValue(field: "kind"))
    }
    self.init(
      kind: kind, identifier: Self.text(message.identifier),
      productID: Self.optionalIdentifier(message.product_id),
      statedAt: message.has_stated_at_ms_case.isSet ? Milliseconds(message.stated_at_ms) : nil,
      isDecisive: message.decisive != 0,
      decision: try Self.required(message.decision, as: Decision.self, "decision"))
  }

  func write(
    to message: inout Entitle__V1__ConsideredItem, in arena: MessageArena
  ) throws(MessageError) {
    message.kind = Self.number(kind)
    message.identifier = try Self.text(identifier, "identifier", in: arena)
    message.product_id = try Self.text(productID, "product_id", in: arena)
    if let statedAt {
      message.has_stated_at_ms_case =
        ENTITLE__V1__CONSIDERED_ITEM__HAS_STATED_AT_MS_STATED_AT_MS
      message.stated_at_ms = statedAt.rawValue
    }
    message.decisive = isDecisive ? 1 : 0
    message.decision = try decision.make(in: arena)
  }
}

extension ExpectedChange: MappedMessage {
  static let shape = MessageShape(entitle__v1__expected_change__init)

  init(reading message: Entitle__V1__ExpectedChange) throws(MessageError) {
    self.init(
      at: message.has_at_ms_case.isSet ? Milliseconds(message.at_ms) : nil,
      decision: try Self.required(message.decision, as: Decision.self, "decision"))
  }

  func write(
    to message: inout Entitle__V1__ExpectedChange, in arena: MessageArena
  ) throws(MessageError) {
    if let at {
      message.has_at_ms_case = ENTITLE__V1__EXPECTED_CHANGE__HAS_AT_MS_AT_MS
      message.at_ms = at.rawValue
    }
    message.decision = try decision.make(in: arena)
  }
}
