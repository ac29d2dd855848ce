import Framing
import NIOCore

// The messages of Protos that the service reads and writes, by their field numbers: bytes of others, as of
// a `google.protobuf.Any`, stay as they are.

/// `Header`: a field of a header or trailer, with its values.
struct HeaderField {
  var name = ""
  var values: [String] = []

  init(name: String, values: [String]) {
    self.name = name
    self.values = values
  }

  init(decoding bytes: ByteBuffer) throws(WireError) {
    try bytes.forEachField { number, content in
      switch number {
      case 1: name = String(buffer: content)
      case 2: values.append(String(buffer: content))
      default: break
      }
    }
  }

  var encoded: ByteBuffer {
    var bytes = ByteBuffer()
    bytes.writeField(1, text: name)
    for value in values { bytes.writeField(2, bytes: ByteBuffer(string: value)) }
    return bytes
  }
}

/// `google.protobuf.Any`.
struct TypedMessage {
  static let prefix = "type.googleapis.com/"

  /// The full name of the message.
  var type = ""
  var value = ByteBuffer()

  init(type: String, value: ByteBuffer) {
    self.type = type
    self.value = value
  }

  init(decoding bytes: ByteBuffer) throws(WireError) {
    try bytes.forEachField { number, content in
      switch number {
      case 1:
        let url = String(buffer: content)
        type = String(url[(url.lastIndex(of: "/").map(url.index(after:)) ?? url.startIndex)...])
      case 2: value = content
      default: break
      }
    }
  }

  var encoded: ByteBuffer {
    var bytes = ByteBuffer()
    bytes.writeField(1, text: Self.prefix + type)
    if value.readableBytes > 0 { bytes.writeField(2, bytes: value) }
    return bytes
  }
}

/// `Error`.
struct ErrorDefinition {
  var code = RPCCode.unknown
  var message = ""
  var details: [TypedMessage] = []

  init(decoding bytes: ByteBuffer) throws(WireError) {
    try bytes.forEachField(
      number: { field, value in
        if field == 1 { code = UInt8(exactly: value).flatMap(RPCCode.init(rawValue:)) ?? .unknown }
      },
      content: { field, content throws(WireError) in
        switch field {
        case 2: message = String(buffer: content)
        case 3: details.append(try TypedMessage(decoding: content))
        default: break
        }
      })
  }

  var encoded: ByteBuffer {
    var bytes = ByteBuffer()
    bytes.writeField(1, integer: Int64(code.rawValue))
    bytes.writeField(2, text: message)
    for detail in details { bytes.writeField(3, bytes: detail.encoded) }
    return bytes
  }

  var status: RPCStatus { RPCStatus(code, message) }
}

/// `UnaryResponseDefinition` or `StreamResponseDefinition`: what the service answers.
struct ResponseDefinition {
  var headers: [HeaderField] = []
  var data: [ByteBuffer] = []
  var error: ErrorDefinition?
  var trailers: [HeaderField] = []
  /// Before the response, or before each message of a stream.
  var delay = Duration.zero

  init() {}

  /// - Parameter request: A request of any method: the definition is its first field.
  init(ofRequest request: ByteBuffer, isStream: Bool) throws(WireError) {
    var definition = ByteBuffer()
    try request.forEachField { number, content in if number == 1 { definition = content } }
    let numbers = isStream ? (delay: 3, error: 4, trailers: 5) : (delay: 6, error: 3, trailers: 4)
    try definition.forEachField(
      number: { field, value in
        if Int(field) == numbers.delay { delay = .milliseconds(Int64(clamping: value)) }
      },
      content: { field, content throws(WireError) in
        switch Int(field) {
        case 1: headers.append(try HeaderField(decoding: content))
        case 2: data.append(content)
        case numbers.error: error = try ErrorDefinition(decoding: content)
        case numbers.trailers: trailers.append(try HeaderField(decoding: content))
        default: break
        }
      })
  }
}

extension ByteBuffer {
  /// Reads a message without a descriptor.
  ///
  /// - Parameters:
  ///   - number: Called with the value of each number.
  ///   - content: Called with the content of each field that has a length.
  func forEachField(
    number: (UInt32, UInt64) -> Void = { _, _ in },
    content: (UInt32, ByteBuffer) throws(WireError) -> Void
  ) throws(WireError) {
    let outcome = withUnsafeReadableBytes { bytes in
      Result { () throws(WireError) in
        var cursor = EnvelopeCursor(bytes, of: "a message of the suite")
        while let tag = try cursor.readTag() {
          switch tag.wireType {
          case .length:
            let range = try cursor.readRange(tag)
            try content(
              tag.field,
              getSlice(at: readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer())
          case .number: number(tag.field, try cursor.readNumber(tag))
          case .fourBytes, .eightBytes: try cursor.skip(tag)
          }
        }
      }
    }
    try outcome.get()
  }
}
