import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Hands in a legacy app receipt (PKCS#7).
public struct SubmitReceiptRequest: Hashable, WireMessage {
  /// DER, or the standard base64 of it; not empty, at most ``MessageLimits/receiptLength`` bytes.
  public var receipt: [UInt8]
  /// The app that the receipt must be of; nil: any app that the service accepts.
  public var bundleID: BundleID?
  /// The account that owns the purchases (R42, R44); nil when the caller does not know it.
  public var accountID: AccountID?
  /// The device that the receipt must have been made for, at most
  /// ``MessageLimits/deviceIdentifierLength`` bytes; nil: not checked.
  public var deviceIdentifier: [UInt8]?
  public var priority: SubmissionPriority

  public init(
    receipt: [UInt8], bundleID: BundleID? = nil, accountID: AccountID? = nil,
    deviceIdentifier: [UInt8]? = nil, priority: SubmissionPriority = .interactive
  ) {
    self.receipt = receipt
    self.bundleID = bundleID
    self.accountID = accountID
    self.deviceIdentifier = deviceIdentifier
    self.priority = priority
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension SubmitReceiptRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__submit_receipt_request__init)

  init(reading message: Entitle__V1__SubmitReceiptRequest) throws(MessageError) {
    bundleID = try Self.bounded(message.bundle_id, "bundle_id")
    accountID = try Self.bounded(message.account_id, "account_id")
    receipt = try Self.required(message.receipt, "receipt", limit: MessageLimits.receiptLength)
    deviceIdentifier = try Self.bounded(
      message.device_identifier, "device_identifier",
      limit: MessageLimits.deviceIdentifierLength)
    priority = try Self.priority(message.priority)
  }

  func write(
    to message: inout Entitle__V1__SubmitReceiptRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(bundleID, "bundle_id", in: arena)
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.receipt = try Self.bytes(receipt, in: arena)
    message.device_identifier = try Self.bytes(deviceIdentifier, in: arena)
    message.priority = priority.message
  }
}
