import CEntitleMessages

/// Reads the fields of one protobuf message, strictly and without allocating: it never reads past the
/// end, and refuses groups, field numbers out of range and overlong numbers.
///
/// Everything that reads protobuf without libprotobuf-c reads it here: envelopes, the checks before
/// libprotobuf-c, JSON, and the few fields that are picked out of an encoded answer. Ranges count from
/// the start of the bytes.
struct ProtobufCursor<Subject: CursorSubject> {
  typealias Tag = ProtobufTag

  /// Which message this is, for errors.
  let subject: Subject
  private let bytes: UnsafeRawBufferPointer
  private var position: Int

  /// - Parameter position: where to begin: at a tag or the end.
  init(_ bytes: UnsafeRawBufferPointer, of subject: Subject, from position: Int = 0) {
    self.subject = subject
    self.bytes = bytes
    self.position = position
  }

  var isAtEnd: Bool { position == bytes.count }

  /// The next field's tag; nil at the end of the message.
  mutating func readTag() throws(Subject.Failure) -> Tag? {
    if isAtEnd { return nil }
    let tag = try readNumber()
    let field = tag >> 3
    // Field numbers have 29 bits.
    guard field > 0, field < 1 << 29 else { throw subject.failure(.invalidFieldNumber) }
    guard let wireType = WireType(rawValue: UInt8(tag & 7)) else {
      throw subject.failure(tag & 7 == 3 || tag & 7 == 4 ? .group : .invalidWireType)
    }
    return Tag(field: UInt32(field), wireType: wireType)
  }

  /// A number of one to ten bytes; bits over 64 are dropped.
  mutating func readNumber() throws(Subject.Failure) -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
      if shift >= 70 { throw subject.failure(.overlongNumber) }
    }
    throw subject.failure(.truncated)
  }

  /// The number of a field that is declared as one.
  mutating func readNumber(_ tag: Tag) throws(Subject.Failure) -> UInt64 {
    guard tag.wireType == .number else { throw subject.failure(.wrongWireType(tag.field)) }
    return try readNumber()
  }

  /// One value that has no length before it; of four or eight bytes, their little-endian number.
  mutating func readScalar(_ wireType: WireType) throws(Subject.Failure) -> UInt64 {
    switch wireType {
    case .fourBytes:
      let start = try advance(by: 4)
      return UInt64(
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)))
    case .eightBytes:
      let start = try advance(by: 8)
      return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    case .number, .length:
      return try readNumber()
    }
  }

  /// Where the content of a field with a length lies.
  mutating func readRange(_ tag: Tag) throws(Subject.Failure) -> Range<Int> {
    guard tag.wireType == .length else { throw subject.failure(.wrongWireType(tag.field)) }
    let length = try readNumber()
    guard length <= UInt64(bytes.count - position) else { throw subject.failure(.truncated) }
    let start = position
    position += Int(length)
    return start..<position
  }

  /// The content of a field with a length: only valid as long as the message's bytes.
  mutating func readBytes(_ tag: Tag) throws(Subject.Failure) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[try readRange(tag)])
  }

  mutating func skip(_ tag: Tag) throws(Subject.Failure) {
    switch tag.wireType {
    case .number: _ = try readNumber()
    case .length: _ = try readRange(tag)
    case .eightBytes: _ = try advance(by: 8)
    case .fourBytes: _ = try advance(by: 4)
    }
  }

  func string(in range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// Whether the bytes there are those of a text.
  func isText(in range: Range<Int>, _ text: String) -> Bool {
    text.utf8.elementsEqual(bytes[range])
  }

  func message(in range: Range<Int>, of subject: Subject) -> Self {
    Self(UnsafeRawBufferPointer(rebasing: bytes[range]), of: subject)
  }

  /// - Returns: where the skipped bytes begin.
  private mutating func advance(by count: Int) throws(Subject.Failure) -> Int {
    guard count <= bytes.count - position else { throw subject.failure(.truncated) }
    defer { position += count }
    return position
  }
}

/// The cursor over messages of ttrpc and other protocols, which have no descriptors here.
typealias EnvelopeCursor = ProtobufCursor<StaticString>

extension EnvelopeCursor {
  /// Where the content of a `string` field lies; it is UTF-8.
  mutating func readText(_ tag: Tag) throws(WireError) -> Range<Int> {
    let range = try readRange(tag)
    guard UnsafeRawBufferPointer(rebasing: bytes[range]).isUTF8 else {
      throw WireError(.notUTF8, subject.description)
    }
    return range
  }
}

/// How a value lies on the wire (protobuf encoding, "Message Structure"). Groups are refused.
enum WireType: UInt8 {
  case number = 0
  case eightBytes = 1
  case length = 2
  case fourBytes = 5
}

extension ProtobufCFieldDescriptor {
  /// The wire type of one value.
  var wireType: WireType {
    switch type {
    case PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_BYTES, PROTOBUF_C_TYPE_MESSAGE: .length
    case PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_SFIXED64, PROTOBUF_C_TYPE_DOUBLE: .eightBytes
    case PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_SFIXED32, PROTOBUF_C_TYPE_FLOAT: .fourBytes
    default: .number
    }
  }
}

struct ProtobufTag {
  let field: UInt32
  let wireType: WireType
}

/// What is wrong with bytes, whatever message they are meant to be.
enum CursorFault {
  case truncated
  /// A number of more than ten bytes.
  case overlongNumber
  case invalidFieldNumber
  case invalidWireType
  case group
  /// The field has another wire type than declared.
  case wrongWireType(UInt32)
}

/// Names a message in errors, and says which error its reader throws.
protocol CursorSubject {
  associatedtype Failure: Error

  func failure(_ fault: CursorFault) -> Failure
}

extension StaticString: CursorSubject {
  func failure(_ fault: CursorFault) -> WireError {
    let code: WireError.Code =
      switch fault {
      case .truncated: .truncated
      case .overlongNumber: .overlongNumber
      case .invalidFieldNumber, .invalidWireType, .group, .wrongWireType: .wrongWireType
      }
    return WireError(code, description)
  }
}

extension UnsafePointer: CursorSubject where Pointee == ProtobufCMessageDescriptor {
  func failure(_ fault: CursorFault) -> MessageError {
    let messageFault: MessageFault =
      switch fault {
      case .truncated: .truncated
      case .overlongNumber: .overlongNumber
      case .invalidFieldNumber: .invalidFieldNumber
      case .invalidWireType: .invalidWireType
      case .group: .group
      case .wrongWireType(let number):
        .wrongWireType(
          field: protobuf_c_message_descriptor_get_field(self, number)
            .map { String(cString: $0.pointee.name) } ?? "\(number)")
      }
    return error(messageFault)
  }

  func error(_ fault: MessageFault) -> MessageError {
    MessageError(fault, in: String(cString: pointee.name))
  }
}

extension UnsafeRawBufferPointer {
  var isUTF8: Bool {
    // Nearly all texts are ASCII: eight bytes at a time.
    var offset = 0
    while offset + 8 <= count {
      guard loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
      else { return isValidUnicode }
      offset += 8
    }
    while offset < count {
      guard self[offset] < 0x80 else { return isValidUnicode }
      offset += 1
    }
    return true
  }

  private var isValidUnicode: Bool {
    withMemoryRebound(to: UInt8.self) { (try? UTF8Span(validating: $0.span)) != nil }
  }
}
