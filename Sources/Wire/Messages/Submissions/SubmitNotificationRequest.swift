import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Hands in an App Store Server Notification, version 2.
public struct SubmitNotificationRequest: Hashable, WireMessage {
  /// A JWS in compact form; not empty.
  public var signedPayload: String
  /// The account that owns the purchases (R42, R44); nil when the caller does not know it.
  public var accountID: AccountID?
  public var priority: SubmissionPriority

  public init(
    signedPayload: String, accountID: AccountID? = nil, priority: SubmissionPriority = .interactive
  ) {
    self.signedPayload = signedPayload
    self.accountID = accountID
    self.priority = priority
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension SubmitNotificationRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__submit_notification_request__init)

  init(reading message: Entitle__V1__SubmitNotificationRequest) throws(MessageError) {
    guard let payload = Self.optionalText(message.signed_payload) else {
      throw Self.error(.missing(field: "signed_payload"))
    }
    signedPayload = payload
    accountID = try Self.bounded(message.account_id, "account_id")
    priority = try Self.priority(message.priority)
  }

  func write(
    to message: inout Entitle__V1__SubmitNotificationRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.signed_payload = try Self.text(signedPayload, "signed_payload", in: arena)
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.priority = priority.message
  }
}
