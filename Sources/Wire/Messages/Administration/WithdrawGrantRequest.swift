import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// Ends a grant before its time.
package struct WithdrawGrantRequest: Hashable, WireMessage {
  /// A UUID; read in lower case.
  package var grantID: GrantID
  package var scope: AppScope
  /// Not empty; at most ``MessageLimits/reasonLength`` bytes.
  package var reason: String
  /// Not empty; at most ``MessageLimits/authorLength`` bytes.
  package var author: String

  package init(grantID: GrantID, scope: AppScope, reason: String, author: String) {
    self.grantID = grantID
    self.scope = scope
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

extension WithdrawGrantRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__withdraw_grant_request__init)

  init(reading message: Entitle__V1__WithdrawGrantRequest) throws(MessageError) {
    guard let id: GrantID = try Self.boundedUUID(message.grant_id, "grant_id") else {
      throw Self.error(.missing(field: "grant_id"))
    }
    grantID = id
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    reason = try Self.required(message.reason, "reason", limit: MessageLimits.reasonLength)
    author = try Self.required(message.author, "author", limit: MessageLimits.authorLength)
  }

  func write(
    to message: inout Entitle__V1__WithdrawGrantRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.grant_id = try Self.text(grantID, "grant_id", in: arena)
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.reason = try Self.text(reason, "reason", in: arena)
    message.author = try Self.text(author, "author", in: arena)
  }
}
