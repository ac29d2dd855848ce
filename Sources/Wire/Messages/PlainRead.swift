import CEntitleMessages
package import EntitlementDomain
import Framing

/// Fast path for the usual form of a ``GetCustomerStateRequest`` or ``CheckEntitlementRequest``:
/// reads it in place, without copying texts and without allocating.
///
/// A request is plain when it asks for the current state with MINIMIZE_LATENCY, by account or
/// original transaction, and has the usual encoding: known fields in the order of their numbers,
/// each once. Its texts are ASCII; the texts and the selector have at most 127 bytes each. All
/// other requests, well-formed or not, go to the ordinary decoder, which would read a plain request
/// the same way.
package struct PlainRead {
  package enum Selector: Hashable, Sendable {
    case account, originalTransaction
  }

  package let selector: Selector
  /// Id of the account or the original transaction. All texts point into the bytes of the request,
  /// and are valid as long as these bytes.
  package let id: UnsafeRawBufferPointer
  package let bundleID: UnsafeRawBufferPointer
  package let environment: StoreEnvironment
  /// Nil for a ``GetCustomerStateRequest``.
  package let entitlementID: UnsafeRawBufferPointer?
  /// Nil for a ``CheckEntitlementRequest``, and when absent.
  package let ifRevisionDiffers: Int64?

  /// Nil when the request is not plain.
  package init?(getCustomerState bytes: UnsafeRawBufferPointer) {
    self.init(bytes, entitlement: nil, consistency: 4, ifRevisionDiffers: 6)
  }

  /// Nil when the request is not plain.
  package init?(checkEntitlement bytes: UnsafeRawBufferPointer) {
    self.init(bytes, entitlement: 4, consistency: 5, ifRevisionDiffers: nil)
  }

  /// - Parameters: the numbers, in `Protos/`, of the fields whose numbers differ between the two
  ///   messages; a test compares them.
  private init?(
    _ bytes: UnsafeRawBufferPointer, entitlement: UInt8?, consistency: UInt8,
    ifRevisionDiffers: UInt8?
  ) {
    var cursor = Cursor(bytes)
    guard let customer = cursor.content(ofField: 1), let (selector, id) = Self.selector(customer),
      let bundleID = cursor.text(ofField: 2)
    else { return nil }
    self.selector = selector
    self.id = id
    self.bundleID = bundleID
    guard let environment = Self.environment(cursor.number(ofField: 3)) else { return nil }
    self.environment = environment
    if let entitlement {
      guard let entitlementID = cursor.text(ofField: entitlement) else { return nil }
      self.entitlementID = entitlementID
    } else {
      entitlementID = nil
    }
    if let content = cursor.content(ofField: consistency), !Self.isMinimizeLatency(content) {
      return nil
    }
    self.ifRevisionDiffers = ifRevisionDiffers.flatMap { cursor.number(ofField: $0) }
      .map { Int64(bitPattern: $0) }
    guard cursor.isAtEnd else { return nil }
  }

  private static func selector(
    _ message: UnsafeRawBufferPointer
  ) -> (Selector, id: UnsafeRawBufferPointer)? {
    var cursor = Cursor(message)
    let selector: Selector
    let id: UnsafeRawBufferPointer
    if let account = cursor.text(ofField: 1) {
      (selector, id) = (.account, account)
    } else if let transaction = cursor.text(ofField: 2) {
      (selector, id) = (.originalTransaction, transaction)
    } else {
      return nil
    }
    return cursor.isAtEnd ? (selector, id) : nil
  }

  private static func environment(_ number: UInt64?) -> StoreEnvironment? {
    guard let number else { return .production }
    return UInt32(exactly: number).flatMap { StoreEnvironment(Entitle__V1__StoreEnvironment($0)) }
  }

  private static func isMinimizeLatency(_ consistency: UnsafeRawBufferPointer) -> Bool {
    var cursor = Cursor(consistency)
    guard let mode = cursor.number(ofField: 1), cursor.isAtEnd else { return consistency.isEmpty }
    return mode == UInt64(ENTITLE__V1__CONSISTENCY__MODE__MODE_MINIMIZE_LATENCY.rawValue)
  }
}

/// Reads the fields of one message in the order of their numbers, all below 16. A field that is
/// absent or not plain is nil and stays unread, so that the cursor does not reach the end.
///
/// This is not a ``ProtobufCursor`` as everywhere else: that one takes 43 ns for a read instead of
/// 20, and nearly every call comes through here.
private struct Cursor {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { position == bytes.count }

  /// The content of a field with a length, under 128 bytes.
  mutating func content(ofField field: UInt8) -> UnsafeRawBufferPointer? {
    guard position + 2 <= bytes.count, bytes[position] == field << 3 | WireType.length.rawValue
    else {
      return nil
    }
    let start = position + 2
    let length = Int(bytes[position + 1])
    guard length < 0x80, length <= bytes.count - start else { return nil }
    position = start + length
    return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
  }

  /// A non-empty text of ASCII without NUL.
  mutating func text(ofField field: UInt8) -> UnsafeRawBufferPointer? {
    let start = position
    guard let content = content(ofField: field) else { return nil }
    guard !content.isEmpty, content.isPlainText else {
      position = start
      return nil
    }
    return content
  }

  mutating func number(ofField field: UInt8) -> UInt64? {
    guard position < bytes.count, bytes[position] == field << 3 | WireType.number.rawValue else {
      return nil
    }
    var number: UInt64 = 0
    var next = position + 1
    // Nine bytes hold every number that is not negative.
    for shift in stride(from: UInt64(0), to: 63, by: 7) {
      guard next < bytes.count else { return nil }
      let byte = bytes[next]
      next += 1
      number |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 {
        position = next
        return number
      }
    }
    return nil
  }
}

extension UnsafeRawBufferPointer {
  /// Whether all bytes are ASCII and none is NUL.
  fileprivate var isPlainText: Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highBits: UInt64 = 0x8080_8080_8080_8080
    var offset = 0
    while offset + 8 <= count {
      let word = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      // In a word of ASCII only a zero byte borrows in the subtraction, which sets its high bit.
      guard (word | (word &- ones)) & highBits == 0 else { return false }
      offset += 8
    }
    while offset < count {
      guard self[offset] &- 1 < 0x7f else { return false }
      offset += 1
    }
    return true
  }
}
