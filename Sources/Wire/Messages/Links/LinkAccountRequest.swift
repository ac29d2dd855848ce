import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Gives what has no account to one (R46).
public struct LinkAccountRequest: Hashable, WireMessage {
  public var scope: AppScope
  public var target: LinkTarget
  /// It may be one of which nothing is known yet.
  public var accountID: AccountID
  /// Not empty; at most ``MessageLimits/reasonLength`` bytes.
  public var reason: String
  /// Not empty; at most ``MessageLimits/authorLength`` bytes.
  public var author: String

  public init(
    scope: AppScope, target: LinkTarget, accountID: AccountID, reason: String, author: String
  ) {
    self.scope = scope
    self.target = target
    self.accountID = accountID
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

extension LinkAccountRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__link_account_request__init)

  init(reading message: Entitle__V1__LinkAccountRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    target = try Self.requested(message.target, "target")
    accountID = try Self.required(message.account_id, "account_id")
    reason = try Self.required(message.reason, "reason", limit: MessageLimits.reasonLength)
    author = try Self.required(message.author, "author", limit: MessageLimits.authorLength)
  }

  func write(
    to message: inout Entitle__V1__LinkAccountRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.target = try target.make(in: arena)
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.reason = try Self.text(reason, "reason", in: arena)
    message.author = try Self.text(author, "author", in: arena)
  }
}
