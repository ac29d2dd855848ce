import NIOCore
import NIOHTTP1
package import StoreSimulator

/// A request of HTTP, as far as the simulator reads it.
package struct StoreRequest: Sendable {
  package let method: String
  /// The parts of the path, decoded.
  package let path: [String]
  /// The parameters of the query in their order, decoded.
  package let query: [(name: String, value: String)]
  let authorization: String?
  let contentType: String?
  package let body: [UInt8]

  package init(
    method: String, target: String, authorization: String? = nil, contentType: String? = nil,
    body: [UInt8] = []
  ) {
    self.method = method
    self.authorization = authorization
    self.contentType = contentType
    self.body = body
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = (parts.first ?? "").split(separator: "/").map { Self.decoded($0, isQuery: false) }
    query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { parameter in
      let sides = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (
        Self.decoded(sides[0], isQuery: true),
        sides.count > 1 ? Self.decoded(sides[1], isQuery: true) : ""
      )
    }
  }

  /// The media type of the body, in lower case and without parameters; nil when none is given.
  var mediaType: String? {
    contentType.map { text in
      text.prefix { $0 != ";" }.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        .lowercased()
    }
  }

  /// The values of a parameter, in their order.
  func values(_ name: String) -> [String] {
    query.filter { $0.name == name }.map(\.value)
  }

  /// Decodes `%XX`, and in a query `+` as a space. What is not well formed stays as it is.
  private static func decoded(_ text: Substring, isQuery: Bool) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(String(rest.prefix(2)) ?? "", radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(isQuery && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// An answer of HTTP.
package struct StoreAnswer: Sendable {
  package let status: Int
  let contentType: String?
  package let body: [UInt8]
  package var fields: [(name: String, value: String)] = []
  /// Waited for before the answer is sent, in milliseconds.
  package var delay: Int64 = 0
  /// Whether the connection is closed instead.
  package var isCut = false

  package init(status: Int, contentType: String? = nil, body: [UInt8] = []) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// Exactly `application/json`: Apple's Python client loses the code of an error with any other
  /// type, also with a charset.
  package static func json(_ writer: JSONObjectWriter, status: Int = 200) -> StoreAnswer {
    StoreAnswer(status: status, contentType: "application/json", body: writer.bytes)
  }

  package static func text(_ text: String, status: Int) -> StoreAnswer {
    StoreAnswer(status: status, contentType: "text/plain", body: Array(text.utf8))
  }

  package static let empty = StoreAnswer(status: 200)
}
