import CEntitleMessages
public import EntitlementDomain
import Framing
package import NIOCore

/// Request of `WatchCustomerStates`: streams the change feed.
public struct WatchCustomerStatesRequest: Hashable, Sendable {
  /// The cursor of the last handled response; nil: from the next commit. See ``beginning``. At most
  /// ``maximumCursorLength`` bytes.
  public var cursor: String?
  /// Only this app; nil: all apps.
  public var bundleID: BundleID?
  /// Only this environment; nil: all environments.
  public var environment: StoreEnvironment?
  /// Only these accounts; empty: all customers, with unclaimed chains and events without a
  /// customer. At most ``maximumAccountIDs``, none empty. Needs the app and the environment.
  public var accountIDs: [AccountID]
  /// Only changes with at least one of these kinds; empty: all changes.
  public var kinds: Set<ChangeKind>
  /// True: changes are sent without states.
  public var isWithoutStates: Bool

  public init(
    cursor: String? = nil, bundleID: BundleID? = nil, environment: StoreEnvironment? = nil,
    accountIDs: [AccountID] = [], kinds: Set<ChangeKind> = [], isWithoutStates: Bool = false
  ) {
    self.cursor = cursor
    self.bundleID = bundleID
    self.environment = environment
    self.accountIDs = accountIDs
    self.kinds = kinds
    self.isWithoutStates = isWithoutStates
  }

  /// The cursor before the first change in the feed.
  public static let beginning = "0"
}

extension WatchCustomerStatesRequest {
  init(reading message: Entitle__V1__WatchCustomerStatesRequest) throws(MessageError) {
    cursor = try Self.bounded(message.cursor, "cursor", limit: Self.maximumCursorLength)
    bundleID = try Self.bounded(
      message.bundle_id, "bundle_id", limit: MessageLimits.identifierLength)
    environment = try Self.anyEnvironment(message.environment)
    accountIDs = try Self.accounts(message.account_ids, count: message.n_account_ids)
    if !accountIDs.isEmpty {
      guard bundleID != nil else { throw Self.error(.missing(field: "bundle_id")) }
      guard environment != nil else { throw Self.error(.missing(field: "environment")) }
    }
    kinds = Set(
      try Self.known(message.kinds, count: message.n_kinds, of: ChangeKind.self, "kinds"))
    isWithoutStates = message.without_states != 0
  }

  func write(
    to message: inout Entitle__V1__WatchCustomerStatesRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.cursor = try Self.text(cursor, "cursor", in: arena)
    message.bundle_id = try Self.text(bundleID, "bundle_id", in: arena)
    if let environment { message.environment = environment.number }
    message.n_account_ids = accountIDs.count
    message.account_ids = try Self.texts(accountIDs.map(\.rawValue), "account_ids", in: arena)
    message.n_kinds = kinds.count
    message.kinds = try Self.list(kinds.inOrder, in: arena)
    message.without_states = isWithoutStates ? 1 : 0
  }

  private static func accounts(
    _ field: UnsafeMutablePointer<CText?>?, count: Int
  ) throws(MessageError) -> [AccountID] {
    try checkCount(count, "account_ids", limit: maximumAccountIDs)
    var accounts: [AccountID] = []
    for text in UnsafeBufferPointer(start: field, count: field == nil ? 0 : count) {
      accounts.append(try required(text, "account_ids", limit: MessageLimits.identifierLength))
    }
    return accounts
  }
}

extension Set<ChangeKind> {
  /// The kinds in the order of their numbers.
  public var inOrder: [ChangeKind] { ChangeKind.allCases.filter(contains) }
}

extension WatchCustomerStatesResponse {
  /// Encodes this message with the state of an encoded ``GetCustomerStateResponse``. The bytes are
  /// the same as from encoding the message with the decoded state; a cached answer need not be
  /// decoded.
  ///
  /// - Returns: nil when this message has no change, or the answer no state.
  package func encoded(joining answer: ByteBuffer) throws(MessageError) -> ByteBuffer? {
    let plain = try encoded()
    guard change?.state == nil, let change = plain.message(inField: Self.changeField),
      let state = answer.message(inField: Self.answerStateField)
    else { return nil }
    let stateLength = state.readableBytes
    let fieldLength = 1 + ByteBuffer.varintSize(stateLength) + stateLength
    var buffer = ByteBuffer()
    // Two tags take one byte each, lengths at most five.
    buffer.reserveCapacity(plain.readableBytes + fieldLength + 6)
    buffer.writeField(Self.cursorField, text: cursor)
    buffer.writeFieldPrefix(Self.changeField, length: change.readableBytes + fieldLength)
    buffer.writeImmutableBuffer(change)
    buffer.writeField(Self.changeStateField, bytes: state)
    return buffer
  }

  // Field numbers as in `Protos/`; a test compares them.
  private static let cursorField: UInt32 = 1
  private static let changeField: UInt32 = 2
  private static let changeStateField: UInt32 = 9
  private static let answerStateField: UInt32 = 1
}

extension ByteBuffer {
  /// The content of a field of a message that is itself a message. Nil when the field is absent, or
  /// the bytes are not a message.
  fileprivate func message(inField number: UInt32) -> ByteBuffer? {
    let range = withUnsafeReadableBytes { bytes -> Range<Int>? in
      var reader = EnvelopeCursor(bytes, of: "a message")
      while let tag = try? reader.readTag() {
        if tag.field == number { return try? reader.readRange(tag) }
        guard (try? reader.skip(tag)) != nil else { return nil }
      }
      return nil
    }
    return range.flatMap { getSlice(at: readerIndex + $0.lowerBound, length: $0.count) }
  }
}
