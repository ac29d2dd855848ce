/// Reads the fields of one protobuf message without allocating. It never reads past the end, and
/// rejects groups, field numbers out of range and overlong varints.
///
/// All protobuf that is read without libprotobuf-c goes through this cursor: envelopes, the checks
/// before libprotobuf-c, JSON, and single fields of encoded answers. Ranges are relative to the
/// start of the bytes.
// Public, as all that its inlinable functions use: the compiler specialises those of other modules only
// if they are public.
public struct ProtobufCursor<Subject: CursorSubject> {
  public typealias Tag = ProtobufTag

  /// Identifies the message in errors.
  public let subject: Subject
  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline var position: Int

  /// - Parameter position: The start position: a tag, or the end.
  @inlinable
  public init(_ bytes: UnsafeRawBufferPointer, of subject: Subject, from position: Int = 0) {
    self.subject = subject
    self.bytes = bytes
    self.position = position
  }

  /// Whether all fields have been read.
  @inlinable
  public var isAtEnd: Bool { position == bytes.count }

  /// The offset of the next byte from the start of the message.
  @inlinable
  public var offset: Int { position }

  /// Reads the tag of the next field; nil at the end of the message.
  @inlinable
  public mutating func readTag() throws(Subject.Failure) -> Tag? {
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

  /// Reads a varint of one to ten bytes. Bits above 64 are dropped.
  @inlinable
  public mutating func readNumber() throws(Subject.Failure) -> UInt64 {
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

  /// Reads the value of a varint field.
  @inlinable
  public mutating func readNumber(_ tag: Tag) throws(Subject.Failure) -> UInt64 {
    guard tag.wireType == .number else { throw subject.failure(.wrongWireType(tag.field)) }
    return try readNumber()
  }

  /// Reads one scalar value: a varint, or a little-endian number of four or eight bytes.
  @inlinable
  public mutating func readScalar(_ wireType: WireType) throws(Subject.Failure) -> UInt64 {
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

  /// Reads a length-delimited field and returns the range of its content.
  @inlinable
  public mutating func readRange(_ tag: Tag) throws(Subject.Failure) -> Range<Int> {
    guard tag.wireType == .length else { throw subject.failure(.wrongWireType(tag.field)) }
    let length = try readNumber()
    guard length <= UInt64(bytes.count - position) else { throw subject.failure(.truncated) }
    let start = position
    position += Int(length)
    return start..<position
  }

  /// Reads a length-delimited field and returns its content, which is valid as long as the
  /// message's bytes.
  @inlinable
  public mutating func readBytes(_ tag: Tag) throws(Subject.Failure) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[try readRange(tag)])
  }

  /// Skips the value of a field.
  @inlinable
  public mutating func skip(_ tag: Tag) throws(Subject.Failure) {
    switch tag.wireType {
    case .number: _ = try readNumber()
    case .length: _ = try readRange(tag)
    case .eightBytes: _ = try advance(by: 8)
    case .fourBytes: _ = try advance(by: 4)
    }
  }

  /// The text in `range`, which must be valid UTF-8.
  @inlinable
  public func string(in range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// Whether the bytes in `range` are the UTF-8 form of `text`.
  @inlinable
  public func isText(in range: Range<Int>, _ text: String) -> Bool {
    text.utf8.elementsEqual(bytes[range])
  }

  /// A cursor over the nested message in `range`.
  @inlinable
  public func message(in range: Range<Int>, of subject: Subject) -> Self {
    Self(UnsafeRawBufferPointer(rebasing: bytes[range]), of: subject)
  }

  /// Skips `count` bytes.
  ///
  /// - Returns: The position of the first skipped byte.
  @inlinable
  mutating func advance(by count: Int) throws(Subject.Failure) -> Int {
    guard count <= bytes.count - position else { throw subject.failure(.truncated) }
    defer { position += count }
    return position
  }
}

/// The cursor for messages that are read without a descriptor, such as ttrpc's envelopes.
package typealias EnvelopeCursor = ProtobufCursor<StaticString>

extension EnvelopeCursor {
  /// Reads a `string` field and returns the range of its content, which is checked to be UTF-8.
  package mutating func readText(_ tag: Tag) throws(WireError) -> Range<Int> {
    let range = try readRange(tag)
    guard UnsafeRawBufferPointer(rebasing: bytes[range]).isUTF8 else {
      throw WireError(.notUTF8, subject.description)
    }
    return range
  }
}

/// The encoding of a value (protobuf encoding, "Message Structure"). Groups are rejected.
public enum WireType: UInt8 {
  case number = 0
  case eightBytes = 1
  case length = 2
  case fourBytes = 5
}

/// The number and wire type of a field.
public struct ProtobufTag {
  public let field: UInt32
  public let wireType: WireType

  @inlinable
  init(field: UInt32, wireType: WireType) {
    self.field = field
    self.wireType = wireType
  }
}

/// An encoding error that can occur in any message.
public enum CursorFault {
  case truncated
  /// A varint of more than ten bytes.
  case overlongNumber
  case invalidFieldNumber
  case invalidWireType
  case group
  /// The field has another wire type than declared.
  case wrongWireType(UInt32)
}

/// Identifies a message in errors, and defines the error type that its cursor throws.
public protocol CursorSubject {
  associatedtype Failure: Error

  /// The error to throw for `fault`.
  func failure(_ fault: CursorFault) -> Failure
}

extension StaticString: CursorSubject {
  public func failure(_ fault: CursorFault) -> WireError {
    let code: WireError.Code =
      switch fault {
      case .truncated: .truncated
      case .overlongNumber: .overlongNumber
      case .invalidFieldNumber, .invalidWireType, .group, .wrongWireType: .wrongWireType
      }
    return WireError(code, description)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes are valid UTF-8.
  @inlinable
  package var isUTF8: Bool {
    // Most texts are ASCII, which is checked eight bytes at a time.
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

  @inlinable
  var isValidUnicode: Bool {
    withMemoryRebound(to: UInt8.self) { (try? UTF8Span(validating: $0.span)) != nil }
  }
}
