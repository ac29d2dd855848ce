import Framing
import NIOCore
import Wire

/// The query of a GET request: `connect=v1&encoding=json&message=…&base64=1`, in any order and with
/// others between them.
struct ConnectQuery {
  private(set) var version: String?
  private(set) var encoding: String?
  private(set) var compression: String?
  private var text: Substring.UTF8View?
  private var isBase64 = false

  /// - Parameter query: what follows the question mark, percent-encoded. Of parameters with the same
  ///   name, the first one counts.
  init(_ query: Substring) {
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? parts[1] : ""
      switch parts[0] {
      case "connect": version = version ?? Self.string(value)
      case "encoding": encoding = encoding ?? Self.string(value)
      case "compression": compression = compression ?? Self.string(value)
      case "base64": isBase64 = value == "1"
      case "message": text = text ?? value.utf8
      default: break
      }
    }
  }

  /// The encoded message.
  ///
  /// - Throws: INVALID_ARGUMENT.
  var message: ByteBuffer {
    get throws(RPCStatus) {
      guard let text else { throw RPCStatus(.invalidArgument, "the query has no message") }
      // A plus is a space in forms, which some clients write; in base64 it is a digit.
      guard let decoded = Self.decoded(text, plusIsSpace: !isBase64) else {
        throw RPCStatus(.invalidArgument, "the message of the query is not percent-encoded")
      }
      if !isBase64 { return ByteBuffer(bytes: decoded) }
      guard let bytes = [UInt8](base64: decoded) else {
        throw RPCStatus(.invalidArgument, "the message of the query is not base64")
      }
      return ByteBuffer(bytes: bytes)
    }
  }

  private static func string(_ value: Substring) -> String? {
    decoded(value.utf8, plusIsSpace: true).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func decoded(
    _ text: Substring.UTF8View, plusIsSpace: Bool
  ) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else {
          return nil
        }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
