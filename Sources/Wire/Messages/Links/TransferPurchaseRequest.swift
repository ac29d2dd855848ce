import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Gives a chain or app transaction to another account (R46).
public struct TransferPurchaseRequest: Hashable, WireMessage {
  public var scope: AppScope
  public var target: LinkTarget
  /// Whose it has to be now; nil: anybody's, or nobody's.
  public var fromAccountID: AccountID?
  /// It may be one of which nothing is known yet.
  public var toAccountID: AccountID
  /// Not empty; at most ``MessageLimits/reasonLength`` bytes.
  public var reason: String
  /// Not empty; at most ``MessageLimits/authorLength`` bytes.
  public var author: String

  public init(
    scope: AppScope, target: LinkTarget, fromAccountID: AccountID? = nil, toAccountID: AccountID,
    reason: String, author: String
  ) {
    self.scope = scope
    self.target = target
    self.fromAccountID = fromAccountID
    self.toAccountID = toAccountID
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

extension TransferPurchaseRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__transfer_purchase_request__init)

  init(reading message: Entitle__V1__TransferPurchaseRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    target = try Self.requested(message.target, "target")
    fromAccountID = try Self.bounded(message.from_account_id, "from_account_id")
    toAccountID = try Self.required(message.to_account_id, "to_account_id")
    reason = try Self.required(message.reason, "reason", limit: MessageLimits.reasonLength)
    author = try Self.required(message.author, "author", limit: MessageLimits.authorLength)
  }

  func write(
    to message: inout Entitle__V1__TransferPurchaseRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.target = try target.make(in: arena)
    message.from_account_id = try Self.text(fromAccountID, "from_account_id", in: arena)
    message.to_account_id = try Self.text(toAccountID, "to_account_id", in: arena)
    message.reason = try Self.text(reason, "reason", in: arena)
    message.author = try Self.text(author, "author", in: arena)
  }
}
