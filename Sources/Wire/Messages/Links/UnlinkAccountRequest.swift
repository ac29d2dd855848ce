import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Takes a chain or app transaction from its account (R46).
public struct UnlinkAccountRequest: Hashable, WireMessage {
  public var scope: AppScope
  public var target: LinkTarget
  /// Not empty; at most ``MessageLimits/reasonLength`` bytes.
  public var reason: String
  /// Not empty; at most ``MessageLimits/authorLength`` bytes.
  public var author: String

  public init(scope: AppScope, target: LinkTarget, reason: String, author: String) {
    self.scope = scope
    self.target = target
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

extension UnlinkAccountRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__unlink_account_request__init)

  init(reading message: Entitle__V1__UnlinkAccountRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    target = try Self.requested(message.target, "target")
    reason = try Self.required(message.reason, "reason", limit: MessageLimits.reasonLength)
    author = try Self.required(message.author, "author", limit: MessageLimits.authorLength)
  }

  func write(
    to message: inout Entitle__V1__UnlinkAccountRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.target = try target.make(in: arena)
    message.reason = try Self.text(reason, "reason", in: arena)
    message.author = try Self.text(author, "author", in: arena)
  }
}
