import Glibc
package import NIOCore

/// ttrpc's `Request`: service, method, payload, timeout and metadata of a call.
///
/// Decoding validates all fields and allocates nothing. Names, payload and metadata are read from
/// the received bytes on access.
package struct RequestEnvelope: Sendable {
  private enum Field {
    static let service: UInt32 = 1
    static let method: UInt32 = 2
    static let payload: UInt32 = 3
    static let timeout: UInt32 = 4
    static let metadata: UInt32 = 5
    static let key: UInt32 = 1
    static let value: UInt32 = 2
  }

  private struct Layout {
    var service = 0..<0
    var method = 0..<0
    var payload = 0..<0
    var timeoutNanoseconds: Int64 = 0
    var metadataCount = 0
    /// The value of the metadata key `authorization`; the last one of several.
    var authorization = 0..<0
    var authorizationCount = 0
    var trace = TraceMark.none

    /// Whether a name or a payload was found. Their positions are above 0, as a tag and a length
    /// precede them.
    var hasCall: Bool {
      max(service.lowerBound, method.lowerBound, payload.lowerBound) > 0
    }
  }

  private let bytes: ByteBuffer
  private let layout: Layout

  /// Decodes the data of a request frame. Unknown fields are skipped. The last value of a repeated
  /// singular field applies.
  ///
  /// - Throws: ``WireError`` for anything that is not a well-formed `Request`.
  package init(decoding bytes: ByteBuffer) throws(WireError) {
    let result = bytes.withUnsafeReadableBytes { pointer in
      Result { () throws(WireError) in try Self.layout(of: pointer) }
    }
    self.bytes = bytes
    self.layout = try result.get()
  }

  /// The error in the first bytes of an envelope; nil if a valid envelope can begin with them.
  static func error(inFirstBytes bytes: UnsafeRawBufferPointer) -> WireError? {
    do throws(WireError) {
      _ = try layout(of: bytes)
      return nil
    } catch {
      return error.code == .truncated ? nil : error
    }
  }

  package var service: String {
    text(layout.service)
  }

  package var method: String {
    text(layout.method)
  }

  package var payload: ByteBuffer {
    slice(layout.payload)
  }

  /// The call's timeout, in nanoseconds from its arrival. 0 means no timeout; negative means
  /// expired.
  package var timeoutNanoseconds: Int64 {
    layout.timeoutNanoseconds
  }

  package var metadata: RPCMetadata {
    RPCMetadata(envelope: bytes, count: layout.metadataCount)
  }

  /// Passes the value of the metadata key `authorization` to `body`, which must not keep it: nil if
  /// there is none, empty if there are several.
  package func withAuthorization<Value>(_ body: (UnsafeRawBufferPointer?) -> Value) -> Value {
    bytes.withUnsafeReadableBytes { pointer in
      switch layout.authorizationCount {
      case 0: body(nil)
      case 1: body(UnsafeRawBufferPointer(rebasing: pointer[layout.authorization]))
      default: body(UnsafeRawBufferPointer(start: nil, count: 0))
      }
    }
  }

  /// Whether the caller asks for a trace of the call.
  package var trace: TraceMark { layout.trace }

  /// What the metadata key `traceparent` asks for, read without the checks of its form.
  private static func mark(_ parent: Slice<UnsafeRawBufferPointer>) -> TraceMark {
    let parent = UnsafeRawBufferPointer(rebasing: parent)
    guard parent.count > TraceMark.flagDigit else { return .unsampled }
    switch parent[TraceMark.flagDigit] {
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      return parent[TraceMark.flagDigit] & 1 == 1 ? .sampled : .unsampled
    case UInt8(ascii: "b"), UInt8(ascii: "d"), UInt8(ascii: "f"): return .sampled
    default: return .unsampled
    }
  }

  private static func isTraceParent(_ key: Slice<UnsafeRawBufferPointer>) -> Bool {
    let name: StaticString = "traceparent"
    let key = UnsafeRawBufferPointer(rebasing: key)
    guard key.count == name.utf8CodeUnitCount, let bytes = key.baseAddress else { return false }
    return memcmp(bytes, name.utf8Start, key.count) == 0
  }

  /// The metadata key of credentials, as HTTP names it.
  package static let authorizationName = "authorization"

  private static func isAuthorization(_ key: Slice<UnsafeRawBufferPointer>) -> Bool {
    let name: StaticString = "authorization"
    let key = UnsafeRawBufferPointer(rebasing: key)
    guard key.count == name.utf8CodeUnitCount, let bytes = key.baseAddress else { return false }
    return memcmp(bytes, name.utf8Start, key.count) == 0
  }

  /// Passes the bytes of service and method to `body`, which must not keep them.
  func withNames<Value>(
    _ body: (_ service: UnsafeRawBufferPointer, _ method: UnsafeRawBufferPointer) -> Value
  ) -> Value {
    bytes.withUnsafeReadableBytes { pointer in
      body(
        UnsafeRawBufferPointer(rebasing: pointer[layout.service]),
        UnsafeRawBufferPointer(rebasing: pointer[layout.method]))
    }
  }

  private func text(_ range: Range<Int>) -> String {
    bytes.withUnsafeReadableBytes { String(decoding: $0[range], as: UTF8.self) }
  }

  private func slice(_ range: Range<Int>) -> ByteBuffer {
    bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
  }

  private static func layout(of bytes: UnsafeRawBufferPointer) throws(WireError) -> Layout {
    var layout = Layout()
    var reader = EnvelopeCursor(bytes, of: "Request")
    while let tag = try reader.readTag() {
      switch tag.field {
      case Field.service:
        layout.service = try reader.readText(tag)
      case Field.method:
        layout.method = try reader.readText(tag)
      case Field.payload:
        layout.payload = try reader.readRange(tag)
      case Field.timeout:
        layout.timeoutNanoseconds = Int64(bitPattern: try reader.readNumber(tag))
      case Field.metadata:
        let range = try reader.readRange(tag)
        var pair = reader.message(in: range, of: "Request.metadata")
        let (key, value) = try readPair(&pair)
        let pairBytes = UnsafeRawBufferPointer(rebasing: bytes[range])
        if isAuthorization(pairBytes[key]) {
          layout.authorization =
            range.lowerBound + value.lowerBound..<range.lowerBound + value.upperBound
          layout.authorizationCount += 1
        } else if isTraceParent(pairBytes[key]), layout.trace != .sampled {
          layout.trace = mark(pairBytes[value])
        }
        layout.metadataCount += 1
        if layout.metadataCount > RPCLimits.maximumMetadataPairs {
          throw WireError(.tooMuchMetadata, "Request.metadata")
        }
      default:
        try reader.skip(tag)
      }
    }
    return layout
  }

  /// What a request in the usual field order contains. All bytes are valid as long as the envelope's.
  package struct Content {
    package let payload: UnsafeRawBufferPointer
    package let timeoutNanoseconds: Int64
    /// The value of the metadata key `authorization`; nil if there is none.
    package let authorization: UnsafeRawBufferPointer?
    package let trace: TraceMark
  }

  /// The content of an envelope in the usual field order: the names of `prefix`
  /// (``prefix(service:method:)``), the payload, then neither names nor payload again, and at most one
  /// `authorization`. Nil for any other envelope, valid or not.
  package static func content(
    of bytes: UnsafeRawBufferPointer, after prefix: [UInt8]
  ) -> Content? {
    guard bytes.starts(with: prefix) else {
      return nil
    }
    do throws(WireError) {
      var reader = EnvelopeCursor(bytes, of: "Request", from: prefix.count)
      guard let tag = try reader.readTag(), tag.field == Field.payload else {
        return nil
      }
      let payload = try reader.readRange(tag)
      let others = UnsafeRawBufferPointer(rebasing: bytes[payload.upperBound...])
      let rest = try layout(of: others)
      guard !rest.hasCall, rest.authorizationCount < 2 else {
        return nil
      }
      return Content(
        payload: UnsafeRawBufferPointer(rebasing: bytes[payload]),
        timeoutNanoseconds: rest.timeoutNanoseconds,
        authorization: rest.authorizationCount == 0
          ? nil : UnsafeRawBufferPointer(rebasing: others[rest.authorization]),
        trace: rest.trace)
    } catch {
      return nil
    }
  }

  /// The first bytes of an envelope that calls this method, as encoders write it.
  package static func prefix(service: String, method: String) -> [UInt8] {
    var prefix = ByteBuffer()
    prefix.writeField(Field.service, text: service)
    prefix.writeField(Field.method, text: method)
    return Array(prefix.readableBytesView)
  }

  /// All metadata pairs of an encoded envelope, in the order sent.
  static func metadataPairs(
    of bytes: UnsafeRawBufferPointer
  ) throws(WireError) -> [(key: String, value: String)] {
    var pairs: [(key: String, value: String)] = []
    var reader = EnvelopeCursor(bytes, of: "Request")
    while let tag = try reader.readTag() {
      if tag.field == Field.metadata {
        var pair = reader.message(in: try reader.readRange(tag), of: "Request.metadata")
        let ranges = try readPair(&pair)
        pairs.append((pair.string(in: ranges.key), pair.string(in: ranges.value)))
      } else {
        try reader.skip(tag)
      }
    }
    return pairs
  }

  private static func readPair(
    _ reader: inout EnvelopeCursor
  ) throws(WireError) -> (key: Range<Int>, value: Range<Int>) {
    var ranges = (key: 0..<0, value: 0..<0)
    while let tag = try reader.readTag() {
      switch tag.field {
      case Field.key: ranges.key = try reader.readText(tag)
      case Field.value: ranges.value = try reader.readText(tag)
      default: try reader.skip(tag)
      }
    }
    return ranges
  }

  /// Writes a `Request`.
  package static func write(
    service: String, method: String, payload: ByteBuffer, timeoutNanoseconds: Int64,
    metadata: [(key: String, value: String)], into buffer: inout ByteBuffer
  ) {
    buffer.writeField(Field.service, text: service)
    buffer.writeField(Field.method, text: method)
    if payload.readableBytes > 0 {
      buffer.writeField(Field.payload, bytes: payload)
    }
    buffer.writeField(Field.timeout, integer: timeoutNanoseconds)
    for (key, value) in metadata {
      var pair = ByteBuffer()
      pair.writeField(Field.key, text: key)
      pair.writeField(Field.value, text: value)
      buffer.writeField(Field.metadata, bytes: pair)
    }
  }
}

/// What a caller asks for with the metadata key `traceparent`
/// (https://www.w3.org/TR/trace-context/). Whether the value is valid is checked only of a call that may
/// be traced.
package enum TraceMark: UInt8, Sendable {
  /// The key is absent.
  case none
  /// The flag "sampled" is not set.
  case unsampled
  case sampled

  /// The position of the digit with that flag.
  static let flagDigit = 54
}

/// The key and value pairs sent with a request, decoded on each access.
///
/// Keys are case-sensitive. Stock clients send them in lower case. A key may occur more than once.
package struct RPCMetadata: Sendable {
  /// The whole request envelope, as its metadata fields need not be adjacent.
  private let envelope: ByteBuffer
  /// The number of pairs.
  package let count: Int

  init(envelope: ByteBuffer, count: Int) {
    self.envelope = envelope
    self.count = count
  }

  package var isEmpty: Bool {
    count == 0
  }

  /// All pairs, in the order sent.
  package var pairs: [(key: String, value: String)] {
    if isEmpty {
      return []
    }
    return envelope.withUnsafeReadableBytes { bytes in
      // Cannot throw: the envelope has been decoded before.
      (try? RequestEnvelope.metadataPairs(of: bytes)) ?? []
    }
  }

  /// The values of one key, in the order sent.
  package subscript(key: String) -> [String] {
    pairs.filter { $0.key == key }.map(\.value)
  }
}
