import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Gives everything of one account to another, under whose id the first is known from then on (R46).
public struct MergeAccountsRequest: Hashable, WireMessage {
  public var scope: AppScope
  /// The account that ends.
  public var fromAccountID: AccountID
  /// It may be one of which nothing is known yet. Whether it is another than the first is for the
  /// service to say.
  public var intoAccountID: AccountID
  /// Not empty; at most ``MessageLimits/reasonLength`` bytes.
  public var reason: String
  /// Not empty; at most ``MessageLimits/authorLength`` bytes.
  public var author: String

  public init(
    scope: AppScope, fromAccountID: AccountID, intoAccountID: AccountID, reason: String,
    author: String
  ) {
    self.scope = scope
    self.fromAccountID = fromAccountID
    self.intoAccountID = intoAccountID
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

extension MergeAccountsRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__merge_accounts_request__init)

  init(reading message: Entitle__V1__MergeAccountsRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    fromAccountID = try Self.required(message.from_account_id, "from_account_id")
    intoAccountID = try Self.required(message.into_account_id, "into_account_id")
    reason = try Self.required(message.reason, "reason", limit: MessageLimits.reasonLength)
    author = try Self.required(message.author, "author", limit: MessageLimits.authorLength)
  }

  func write(
    to message: inout Entitle__V1__MergeAccountsRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.from_account_id = try Self.text(fromAccountID, "from_account_id", in: arena)
    message.into_account_id = try Self.text(intoAccountID, "into_account_id", in: arena)
    message.reason = try Self.text(reason, "reason", in: arena)
    message.author = try Self.text(author, "author", in: arena)
  }
}
