import FoundationEssentials
import NIOCore
import Testing

/// Writes valid and invalid protobuf bytes.
struct MessageBytes {
  private(set) var bytes: [UInt8] = []

  var buffer: ByteBuffer { ByteBuffer(bytes: bytes) }

  func raw(_ more: [UInt8]) -> MessageBytes {
    var result = self
    result.bytes += more
    return result
  }

  func number(_ number: UInt64) -> MessageBytes {
    var rest = number
    var encoded: [UInt8] = []
    while rest >= 0x80 {
      encoded.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    return raw(encoded + [UInt8(rest)])
  }

  func tag(_ field: UInt64, _ wireType: UInt64) -> MessageBytes {
    number(field << 3 | wireType)
  }

  func field(_ field: UInt64, number value: UInt64) -> MessageBytes {
    tag(field, 0).number(value)
  }

  func field(_ field: UInt64, bytes content: [UInt8]) -> MessageBytes {
    tag(field, 2).number(UInt64(content.count)).raw(content)
  }

  func field(_ field: UInt64, text: String) -> MessageBytes {
    self.field(field, bytes: Array(text.utf8))
  }

  func field(_ field: UInt64, message: MessageBytes) -> MessageBytes {
    self.field(field, bytes: message.bytes)
  }

  /// Decodes base64; white space is ignored.
  static func base64(_ text: String) throws -> [UInt8] {
    let data = Data(base64Encoded: text.filter { !$0.isWhitespace })
    return Array(try #require(data))
  }
}
