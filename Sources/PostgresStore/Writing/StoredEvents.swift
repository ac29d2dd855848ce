import EntitlementDomain
import EntitlementStore

/// The encoding of a change's events in one column: a version byte, the number of events (2 bytes),
/// then each event.
///
/// An event is its kind (1 byte), a reason (1 byte, 0 for none), a byte with a bit for each
/// optional part (1: chain, 2: transaction, 4: deadline, 8: detail), the notification's UUID, and
/// these parts in that order. A text is its length in bytes (2 bytes) and UTF-8; a moment has 8
/// bytes. All numbers are big-endian.
enum StoredEvents {
  private static let version: UInt8 = 1

  static func encode(_ events: [FeedEvent]) -> [UInt8] {
    var bytes: [UInt8] = [version]
    append(events.count, to: &bytes)
    for event in events.prefix(Int(UInt16.max)) {
      bytes.append(UInt8(clamping: event.kind.rawValue))
      bytes.append(UInt8(clamping: event.refetchReason?.rawValue ?? 0))
      bytes.append(
        (event.originalTransactionID == nil ? 0 : 1) | (event.transactionID == nil ? 0 : 2)
          | (event.deadline == nil ? 0 : 4) | (event.detail == nil ? 0 : 8))
      append(event.notificationUUID.rawValue, to: &bytes)
      if let chain = event.originalTransactionID { append(chain.rawValue, to: &bytes) }
      if let transaction = event.transactionID { append(transaction.rawValue, to: &bytes) }
      if let deadline = event.deadline {
        let value = UInt64(bitPattern: deadline.rawValue)
        bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
      }
      if let detail = event.detail { append(detail, to: &bytes) }
    }
    return bytes
  }

  /// - Throws: ``StoreError/Code/corrupt`` for bytes that ``encode(_:)`` does not produce.
  static func decode(_ bytes: [UInt8]) throws(StoreError) -> [FeedEvent] {
    var reader = Reader(bytes: bytes[...])
    guard try reader.byte() == version else {
      throw StoreError(.corrupt, "stored events are of an unknown version")
    }
    let count = try reader.length()
    var events: [FeedEvent] = []
    for _ in 0..<count { events.append(try event(&reader)) }
    guard reader.bytes.isEmpty else { throw Reader.malformed }
    return events
  }

  private static func event(_ reader: inout Reader) throws(StoreError) -> FeedEvent {
    guard let kind = FeedEventKind(rawValue: Int(try reader.byte())) else {
      throw StoreError(.corrupt, "a stored event is of an unknown kind")
    }
    let reasonNumber = Int(try reader.byte())
    let reason = RefetchReason(rawValue: reasonNumber)
    guard reason != nil || reasonNumber == 0 else {
      throw StoreError(.corrupt, "a stored event has an unknown reason")
    }
    let parts = try reader.byte()
    var event = FeedEvent(
      kind: kind, notificationUUID: NotificationUUID(try reader.text()), refetchReason: reason)
    if parts & 1 != 0 { event.originalTransactionID = OriginalTransactionID(try reader.text()) }
    if parts & 2 != 0 { event.transactionID = TransactionID(try reader.text()) }
    if parts & 4 != 0 { event.deadline = Milliseconds(try reader.number()) }
    if parts & 8 != 0 { event.detail = try reader.text() }
    return event
  }

  /// Truncates a text of more than 65,535 bytes. Texts of events are never longer than a line.
  private static func append(_ text: String, to bytes: inout [UInt8]) {
    let utf8 = text.utf8.prefix(Int(UInt16.max))
    append(utf8.count, to: &bytes)
    bytes += utf8
  }

  private static func append(_ length: Int, to bytes: inout [UInt8]) {
    let length = UInt16(clamping: length)
    bytes += [UInt8(length >> 8), UInt8(length & 0xff)]
  }

  private struct Reader {
    var bytes: ArraySlice<UInt8>

    static let malformed = StoreError(.corrupt, "stored events cannot be decoded")

    mutating func byte() throws(StoreError) -> UInt8 {
      guard let byte = bytes.popFirst() else { throw Self.malformed }
      return byte
    }

    mutating func length() throws(StoreError) -> Int {
      Int(try byte()) << 8 | Int(try byte())
    }

    mutating func text() throws(StoreError) -> String {
      let count = try length()
      guard bytes.count >= count else { throw Self.malformed }
      let text = String(decoding: bytes.prefix(count), as: UTF8.self)
      bytes.removeFirst(count)
      return text
    }

    mutating func number() throws(StoreError) -> Int64 {
      var value: UInt64 = 0
      for _ in 0..<8 { value = value << 8 | UInt64(try byte()) }
      return Int64(bitPattern: value)
    }
  }
}
