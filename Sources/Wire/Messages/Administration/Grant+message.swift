import CEntitleMessages
import EntitlementDomain

extension Grant: MappedMessage {
  static let shape = MessageShape(entitle__v1__grant__init)

  init(reading message: Entitle__V1__Grant) throws(MessageError) {
    self.init(
      id: Self.identifier(message.grant_id),
      scope: try Self.scope(bundleID: message.bundle_id, environment: message.environment),
      accountID: Self.identifier(message.account_id),
      entitlementID: Self.identifier(message.entitlement_id),
      starts: Milliseconds(message.starts_ms),
      expires: message.has_expires_ms_case.isSet ? Milliseconds(message.expires_ms) : nil,
      reason: Self.text(message.reason), author: Self.text(message.author),
      createdAt: Milliseconds(message.created_at_ms),
      withdrawal: try Self.optional(message.withdrawal, as: GrantWithdrawal.self))
  }

  func write(
    to message: inout Entitle__V1__Grant, in arena: MessageArena
  ) throws(MessageError) {
    message.grant_id = try Self.text(id, "grant_id", in: arena)
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.entitlement_id = try Self.text(entitlementID, "entitlement_id", in: arena)
    message.starts_ms = starts.rawValue
    if let expires {
      message.has_expires_ms_case = ENTITLE__V1__GRANT__HAS_EXPIRES_MS_EXPIRES_MS
      message.expires_ms = expires.rawValue
    }
    message.reason = try Self.text(reason, "reason", in: arena)
    message.author = try Self.text(author, "author", in: arena)
    message.created_at_ms = createdAt.rawValue
    if let withdrawal { message.withdrawal = try withdrawal.make(in: arena) }
  }
}

extension GrantWithdrawal: MappedMessage {
  static let shape = MessageShape(entitle__v1__grant_withdrawal__init)

  init(reading message: Entitle__V1__GrantWithdrawal) {
    self.init(
      at: Milliseconds(message.at_ms), author: Self.text(message.author),
      reason: Self.text(message.reason))
  }

  func write(
    to message: inout Entitle__V1__GrantWithdrawal, in arena: MessageArena
  ) throws(MessageError) {
    message.at_ms = at.rawValue
    message.author = try Self.text(author, "author", in: arena)
    message.reason = try Self.text(reason, "reason", in: arena)
  }
}
