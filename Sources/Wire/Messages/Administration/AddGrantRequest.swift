import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// Gives an account an entitlement outside the App Store (R32).
package struct AddGrantRequest: Hashable, WireMessage {
  /// A UUID, which makes repeats harmless; read in lower case. Nil: the server makes one.
  package var grantID: GrantID?
  package var scope: AppScope
  package var accountID: AccountID
  package var entitlementID: EntitlementID
  /// Nil is the server's now.
  package var starts: Milliseconds?
  /// Nil when it has no end. Whether it is later than the start is for the service to say.
  package var expires: Milliseconds?
  /// Not empty; at most ``MessageLimits/reasonLength`` bytes.
  package var reason: String
  /// Not empty; at most ``MessageLimits/authorLength`` bytes.
  package var author: String

  package init(
    grantID: GrantID? = nil, scope: AppScope, accountID: AccountID,
    entitlementID: EntitlementID, starts: Milliseconds? = nil, expires: Milliseconds? = nil,
    reason: String, author: String
  ) {
    self.grantID = grantID
    self.scope = scope
    self.accountID = accountID
    self.entitlementID = entitlementID
    self.starts = starts
    self.expires = expires
    self.reason = reason
    self.author = author
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension AddGrantRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__add_grant_request__init)

  init(reading message: Entitle__V1__AddGrantRequest) throws(MessageError) {
    grantID = try Self.boundedUUID(message.grant_id, "grant_id")
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    accountID = try Self.required(message.account_id, "account_id")
    entitlementID = try Self.required(message.entitlement_id, "entitlement_id")
    starts = message.has_starts_ms_case.isSet ? Milliseconds(message.starts_ms) : nil
    expires = message.has_expires_ms_case.isSet ? Milliseconds(message.expires_ms) : nil
    reason = try Self.required(message.reason, "reason", limit: MessageLimits.reasonLength)
    author = try Self.required(message.author, "author", limit: MessageLimits.authorLength)
  }

  func write(
    to message: inout Entitle__V1__AddGrantRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.grant_id = try Self.text(grantID, "grant_id", in: arena)
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.entitlement_id = try Self.text(entitlementID, "entitlement_id", in: arena)
    if let starts {
      message.has_starts_ms_case = ENTITLE__V1__ADD_GRANT_REQUEST__HAS_STARTS_MS_STARTS_MS
      message.starts_ms = starts.rawValue
    }
    if let expires {
      message.has_expires_ms_case = ENTITLE__V1__ADD_GRANT_REQUEST__HAS_EXPIRES_MS_EXPIRES_MS
      message.expires_ms = expires.rawValue
    }
    message.reason = try Self.text(reason, "reason", in: arena)
    message.author = try Self.text(author, "author", in: arena)
  }
}
