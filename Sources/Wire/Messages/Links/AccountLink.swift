import CEntitleMessages
public import EntitlementDomain

/// Something that an account owns.
public struct AccountLink: Hashable, Sendable {
  public var target: LinkTarget
  /// When it got this account.
  public var since: Milliseconds
  /// Why it got this account; nil for a reason that only a newer server knows.
  public var reason: LinkReason?
  /// Nobody signed what the account was named with.
  public var isUnsigned: Bool

  public init(
    target: LinkTarget, since: Milliseconds, reason: LinkReason?, isUnsigned: Bool = false
  ) {
    self.target = target
    self.since = since
    self.reason = reason
    self.isUnsigned = isUnsigned
  }
}

extension AccountLink: MappedMessage {
  static let shape = MessageShape(entitle__v1__link__init)

  /// False for a link of something that only a newer server knows of: lists leave it out.
  static func isKnown(_ message: Entitle__V1__Link) -> Bool {
    message.target.map { LinkTarget.isKnown($0.pointee) } ?? true
  }

  init(reading message: Entitle__V1__Link) throws(MessageError) {
    target = try Self.required(message.target, as: LinkTarget.self, "target")
    since = Milliseconds(message.since_ms)
    reason = LinkReason(message.reason)
    isUnsigned = message.is_unsigned != 0
  }

  func write(
    to message: inout Entitle__V1__Link, in arena: MessageArena
  ) throws(MessageError) {
    message.target = try target.make(in: arena)
    message.since_ms = since.rawValue
    if let reason { message.reason = reason.message }
    message.is_unsigned = isUnsigned ? 1 : 0
  }
}
