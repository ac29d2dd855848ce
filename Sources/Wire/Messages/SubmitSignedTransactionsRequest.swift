import CEntitleMessages
public import EntitlementDomain
import Glibc
import NIOCore

/// Request of `SubmitSignedTransactions`: submits transactions, renewal infos and app transactions.
public struct SubmitSignedTransactionsRequest: Hashable, Sendable {
  /// Every item must belong to this app; nil: any app that the service accepts. It does not prove
  /// the app of a renewal info, which comes from the transactions of its chain (R8).
  public var bundleID: BundleID?
  /// The account that owns the purchases (R42, R44); nil when the caller does not know it.
  public var accountID: AccountID?
  /// The anonymous account that is merged into ``accountID`` (R75); nil for none.
  public var anonymousAccountID: AccountID?
  /// JWS in compact form: 1 to ``maximumItems`` entries, none empty.
  public var signedPayloads: [String]
  /// How soon to verify the payloads when the server is busy.
  public var priority: SubmissionPriority

  public init(
    signedPayloads: [String], bundleID: BundleID? = nil, accountID: AccountID? = nil,
    anonymousAccountID: AccountID? = nil, priority: SubmissionPriority = .interactive
  ) {
    self.bundleID = bundleID
    self.accountID = accountID
    self.anonymousAccountID = anonymousAccountID
    self.signedPayloads = signedPayloads
    self.priority = priority
  }
}

extension SubmitSignedTransactionsRequest {
  init(reading message: Entitle__V1__SubmitSignedTransactionsRequest) throws(MessageError) {
    bundleID = try Self.bounded(
      message.bundle_id, "bundle_id", limit: MessageLimits.identifierLength)
    accountID = try Self.bounded(
      message.account_id, "account_id", limit: MessageLimits.identifierLength)
    anonymousAccountID = try Self.bounded(
      message.anonymous_account_id, "anonymous_account_id", limit: MessageLimits.identifierLength)
    try Self.checkNotEmpty(message.n_items, "items")
    try Self.checkCount(message.n_items, "items", limit: Self.maximumItems)
    signedPayloads = try Self.signedPayloads(of: message)
    priority = try Self.required(message.priority, as: SubmissionPriority.self, "priority")
  }

  /// Equal payloads share their storage: 500 times the same takes the memory of one.
  private static func signedPayloads(
    of message: Entitle__V1__SubmitSignedTransactionsRequest
  ) throws(MessageError) -> [String] {
    var known: [ItemBytes: String] = [:]
    var payloads: [String] = []
    payloads.reserveCapacity(message.n_items)
    for case let item? in UnsafeBufferPointer(start: message.items, count: message.n_items) {
      let bytes = ItemBytes(item.pointee)
      if let payload = known[bytes] {
        payloads.append(payload)
      } else {
        let payload = try SignedItem(reading: item.pointee).signedPayload
        known[bytes] = payload
        payloads.append(payload)
      }
    }
    return payloads
  }

  func write(
    to message: inout Entitle__V1__SubmitSignedTransactionsRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(bundleID, "bundle_id", in: arena)
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.anonymous_account_id = try Self.text(
      anonymousAccountID, "anonymous_account_id", in: arena)
    message.n_items = signedPayloads.count
    message.items = try Self.list(
      signedPayloads.map(SignedItem.init(signedPayload:)), in: arena)
    if priority != .interactive { message.priority = priority.number }
  }
}

/// The payload of a decoded item, compared by its bytes: the comparison of texts is slow if they are
/// not ASCII. Valid while the decoded message is.
private struct ItemBytes: Hashable {
  private let bytes: UnsafeRawBufferPointer

  init(_ item: Entitle__V1__SignedItem) {
    bytes = UnsafeRawBufferPointer(
      start: item.signed_payload, count: item.signed_payload.map { strlen($0) } ?? 0)
  }

  static func == (left: Self, right: Self) -> Bool {
    left.bytes.elementsEqual(right.bytes)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(bytes: bytes)
  }
}

private struct SignedItem: MappedMessage {
  static let shape = MessageShape(entitle__v1__signed_item__init)

  static var messageType: MessageType { shape.type }

  static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }

  let signedPayload: String

  init(signedPayload: String) {
    self.signedPayload = signedPayload
  }

  init(reading message: Entitle__V1__SignedItem) throws(MessageError) {
    signedPayload = try Self.required(message.signed_payload, "signed_payload")
  }

  func write(
    to message: inout Entitle__V1__SignedItem, in arena: MessageArena
  ) throws(MessageError) {
    message.signed_payload = try Self.text(signedPayload, "signed_payload", in: arena)
  }
}
