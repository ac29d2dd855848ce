import NIOHTTP1

/// A request that is checked and encoded, without the host and the token.
package struct AppStoreServerRequest: Sendable {
  let endpoint: AppStoreServerEndpoint
  let method: HTTPMethod
  /// The path below the base address, with the query: ASCII.
  let target: String
  /// JSON; nil without a body.
  let body: [UInt8]?

  /// Bytes of a value in the path. Apple's ids have at most 128.
  private static let pathValueLength = 256
  /// Bytes of path and query. Servers commonly accept 8 KiB.
  private static let targetLength = 8_192

  /// - Parameters:
  ///   - path: below `/inApps/`; a name in braces stands for the value of that name.
  ///   - values: the values of the path.
  ///   - query: names with values; a name may occur again. A nil value leaves the name out.
  /// - Throws: ``AppStoreServerError/Code/invalidRequest`` for a value that a path cannot have.
  init(
    _ endpoint: AppStoreServerEndpoint, _ method: HTTPMethod, _ path: String,
    _ values: KeyValuePairs<String, String> = [:], query: [(String, String?)] = [],
    body: [UInt8]? = nil
  ) throws(AppStoreServerError) {
    var target = "/inApps/" + path
    for (name, value) in values {
      try Self.check(pathValue: value, name)
      target = target.replacing("{\(name)}", with: Self.encoded(value))
    }
    var separator: Character = "?"
    for case (let name, let value?) in query {
      target.append(separator)
      target += "\(name)=\(Self.encoded(value))"
      separator = "&"
    }
    guard target.utf8.count <= Self.targetLength else {
      throw .invalidRequest("path and query have more than \(Self.targetLength) bytes")
    }
    self.endpoint = endpoint
    self.method = method
    self.target = target
    self.body = body
  }

  /// - Throws: ``AppStoreServerError/Code/invalidRequest`` for a value that a path cannot have.
  package static func check(
    pathValue value: String, _ name: String
  ) throws(AppStoreServerError) {
    guard !value.isEmpty, value.utf8.count <= pathValueLength, value != ".", value != "..",
      value.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") })
    else { throw .invalidRequest("\(name) is empty, too long, or no id") }
  }

  func headers(token: String) -> HTTPHeaders {
    var headers: HTTPHeaders = [
      "authorization": "Bearer \(token)", "accept": "application/json", "user-agent": "entitle",
    ]
    if body != nil { headers.add(name: "content-type", value: "application/json") }
    return headers
  }

  /// RFC 3986 section 2.3: all but the unreserved characters are encoded.
  private static func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        result.append(byte)
      default:
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension AppStoreServerError {
  static func invalidRequest(_ message: String) -> AppStoreServerError {
    AppStoreServerError(.invalidRequest, message)
  }
}

/// A value in the body of a request, or in a token.
enum RequestValue {
  case text(String)
  case integer(Int64)
  case boolean(Bool)
  case texts([String])

  /// One JSON object without white space, with its fields in this order. A field without a value is
  /// left out: Apple refuses some fields that are empty.
  static func object(_ fields: KeyValuePairs<String, RequestValue?>) -> [UInt8] {
    var bytes: [UInt8] = []
    for case (let name, let value?) in fields {
      bytes.append(UInt8(ascii: bytes.isEmpty ? "{" : ","))
      append(quoted: name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      value.append(to: &bytes)
    }
    return (bytes.isEmpty ? [UInt8(ascii: "{")] : bytes) + [UInt8(ascii: "}")]
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .text(let text): Self.append(quoted: text, to: &bytes)
    case .integer(let number): bytes += String(number).utf8
    case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
    case .texts(let texts):
      bytes.append(UInt8(ascii: "["))
      for (index, text) in texts.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.append(quoted: text, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    }
  }

  /// RFC 8259 section 7: only the quotation mark, the backslash and control characters must be
  /// escaped.
  private static func append(quoted text: String, to bytes: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        bytes += "\\u00".utf8
        bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
