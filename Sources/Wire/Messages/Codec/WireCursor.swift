import CEntitleMessages

/// How a value lies on the wire (protobuf encoding, "Message Structure"). Groups are refused.
enum WireType: UInt8 {
  case number = 0
  case eightBytes = 1
  case length = 2
  case fourBytes = 5
}

/// Walks over the bytes of one message.
struct WireCursor {
  let descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  /// - Parameter descriptor: names the message in errors.
  init(
    _ bytes: UnsafeRawBufferPointer, of descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) {
    self.bytes = bytes
    self.descriptor = descriptor
  }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func readTag() throws(MessageError) -> (field: UInt32, wireType: WireType) {
    let tag = try readNumber()
    let field = tag >> 3
    // Field numbers have 29 bits.
    guard field > 0, field < 1 << 29 else { throw error(.invalidFieldNumber) }
    guard let wireType = WireType(rawValue: UInt8(tag & 7)) else {
      throw error(tag & 7 == 3 || tag & 7 == 4 ? .group : .invalidWireType)
    }
    return (UInt32(field), wireType)
  }

  /// A number of one to ten bytes; bits over 64 are dropped.
  mutating func readNumber() throws(MessageError) -> UInt64 {
    var number: UInt64 = 0
    for position in 0..<10 {
      guard offset < bytes.count else { throw error(.truncated) }
      let byte = bytes[offset]
      offset += 1
      number |= UInt64(byte & 0x7f) << UInt64(7 * position)
      if byte < 0x80 { return number }
    }
    throw error(.overlongNumber)
  }

  /// A length and as many bytes.
  mutating func readBytes() throws(MessageError) -> UnsafeRawBufferPointer {
    let length = try readNumber()
    guard length <= UInt64(bytes.count - offset) else { throw error(.truncated) }
    let start = offset
    offset += Int(length)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
  }

  mutating func skip(_ wireType: WireType) throws(MessageError) {
    switch wireType {
    case .number: _ = try readNumber()
    case .length: _ = try readBytes()
    case .eightBytes: try skip(byteCount: 8)
    case .fourBytes: try skip(byteCount: 4)
    }
  }

  private mutating func skip(byteCount: Int) throws(MessageError) {
    guard byteCount <= bytes.count - offset else { throw error(.truncated) }
    offset += byteCount
  }

  func error(_ fault: MessageFault) -> MessageError {
    MessageError(fault, in: String(cString: descriptor.pointee.name))
  }
}
