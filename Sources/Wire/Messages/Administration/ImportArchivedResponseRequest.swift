import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// Imports a response of Apple's former `verifyReceipt`, which nobody signed.
package struct ImportArchivedResponseRequest: Hashable, WireMessage {
  /// The app that the response must be of.
  package var bundleID: BundleID
  /// The account that owns the purchases: links those that have none (R42); nil when it is not
  /// known.
  package var accountID: AccountID?
  /// JSON; not empty, at most ``MessageLimits/archivedResponseLength`` bytes.
  package var response: [UInt8]

  package init(bundleID: BundleID, accountID: AccountID? = nil, response: [UInt8]) {
    self.bundleID = bundleID
    self.accountID = accountID
    self.response = response
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ImportArchivedResponseRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__import_archived_response_request__init)

  init(reading message: Entitle__V1__ImportArchivedResponseRequest) throws(MessageError) {
    bundleID = try Self.required(message.bundle_id, "bundle_id")
    accountID = try Self.bounded(message.account_id, "account_id")
    response = try Self.required(
      message.response, "response", limit: MessageLimits.archivedResponseLength)
  }

  func write(
    to message: inout Entitle__V1__ImportArchivedResponseRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(bundleID, "bundle_id", in: arena)
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.response = try Self.bytes(response, in: arena)
  }
}
