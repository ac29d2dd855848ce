/// Reads the fields of one protobuf message, strictly: it never reads past the end, and takes
/// groups, field number zero and overlong varints for malformed.
///
/// Used for the small envelopes around every call, where a generated decoder would allocate.
/// Ranges that it returns count from the start of `bytes`.
struct ProtobufFieldReader {
  enum WireType: UInt8 {
    case varint = 0
    case fixed64 = 1
    case lengthDelimited = 2
    case fixed32 = 5
  }

  struct Tag {
    let field: UInt32
    let wireType: WireType
  }

  private let bytes: UnsafeRawBufferPointer
  private let subject: String
  private var position: Int

  /// - Parameters:
  ///   - subject: the message's name, for errors.
  ///   - position: where to begin: at a tag or the end.
  init(_ bytes: UnsafeRawBufferPointer, of subject: String, from position: Int = 0) {
    self.bytes = bytes
    self.subject = subject
    self.position = position
  }

  /// The next field's tag, or nil at the end of the message.
  mutating func readTag() throws(WireError) -> Tag? {
    guard position < bytes.count else {
      return nil
    }
    let value = try readVarint()
    guard value >> 3 != 0, value <= UInt64(UInt32.max),
      let wireType = WireType(rawValue: UInt8(value & 7))
    else {
      throw WireError(.wrongWireType, subject)
    }
    return Tag(field: UInt32(value >> 3), wireType: wireType)
  }

  mutating func readVarint() throws(WireError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 {
        return value
      }
      shift += 7
      if shift >= 70 {
        throw WireError(.overlongNumber, subject)
      }
    }
    throw WireError(.truncated, subject)
  }

  /// The varint of a field that is declared as one.
  mutating func readVarint(_ tag: Tag) throws(WireError) -> UInt64 {
    guard tag.wireType == .varint else {
      throw WireError(.wrongWireType, subject)
    }
    return try readVarint()
  }

  /// Where the content of a `bytes`, message or not yet checked `string` field lies.
  mutating func readBytes(_ tag: Tag) throws(WireError) -> Range<Int> {
    guard tag.wireType == .lengthDelimited else {
      throw WireError(.wrongWireType, subject)
    }
    let length = try readVarint()
    guard length <= UInt64(bytes.count - position) else {
      throw WireError(.truncated, subject)
    }
    let start = position
    position += Int(length)
    return start..<position
  }

  /// Where the content of a `string` field lies; it is UTF-8.
  mutating func readText(_ tag: Tag) throws(WireError) -> Range<Int> {
    let range = try readBytes(tag)
    guard Self.isUTF8(UnsafeRawBufferPointer(rebasing: bytes[range])) else {
      throw WireError(.notUTF8, subject)
    }
    return range
  }

  mutating func skip(_ tag: Tag) throws(WireError) {
    switch tag.wireType {
    case .varint: _ = try readVarint()
    case .fixed64: try advance(by: 8)
    case .lengthDelimited: _ = try readBytes(tag)
    case .fixed32: try advance(by: 4)
    }
  }

  func string(in range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// Whether the bytes there are those of a text.
  func isText(in range: Range<Int>, _ text: String) -> Bool {
    text.utf8.elementsEqual(bytes[range])
  }

  func message(in range: Range<Int>, of subject: String) -> ProtobufFieldReader {
    ProtobufFieldReader(UnsafeRawBufferPointer(rebasing: bytes[range]), of: subject)
  }

  private mutating func advance(by count: Int) throws(WireError) {
    guard bytes.count - position >= count else {
      throw WireError(.truncated, subject)
    }
    position += count
  }

  private static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
    // Names and header values are ASCII nearly always, and that is cheap to see.
    var highBits: UInt8 = 0
    for byte in text {
      highBits |= byte
    }
    if highBits < 0x80 {
      return true
    }
    return text.withMemoryRebound(to: UInt8.self) { buffer in
      (try? UTF8Span(validating: buffer.span)) != nil
    }
  }
}
