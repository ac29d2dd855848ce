package import Framing
package import NIOCore
package import NIOHTTP1
import Wire

/// Errors of the Connect protocol (https://connectrpc.com/docs/protocol, "Error Codes" and "Error and
/// EndStreamResponse").
package enum ConnectError {
  /// A message that says more of an error, with its full name.
  package typealias Detail = (type: String, value: ByteBuffer)

  static func name(of code: RPCCode) -> String {
    // Connect spells it with one L.
    code == .cancelled ? "canceled" : code.name.lowercased()
  }

  static func httpStatus(of code: RPCCode) -> HTTPResponseStatus {
    switch code {
    case .ok: .ok
    case .cancelled: .custom(code: 499, reasonPhrase: "Client Closed Request")
    case .unknown, .internal, .dataLoss: .internalServerError
    case .invalidArgument, .failedPrecondition, .outOfRange: .badRequest
    case .deadlineExceeded: .gatewayTimeout
    case .notFound: .notFound
    case .alreadyExists, .aborted: .conflict
    case .permissionDenied: .forbidden
    case .resourceExhausted: .tooManyRequests
    case .unimplemented: .notImplemented
    case .unavailable: .serviceUnavailable
    case .unauthenticated: .unauthorized
    }
  }

  /// The JSON of an `Error`.
  ///
  /// - Parameter details: In place of those of the status; nil: those.
  static func json(_ status: RPCStatus, details: [Detail]? = nil) -> [UInt8] {
    var json = Array("{\"code\":\"\(name(of: status.code))\"".utf8)
    if !status.message.isEmpty {
      json += Array(",\"message\":".utf8)
      json.appendText(status.message)
    }
    let details = details ?? status.details
    if !details.isEmpty {
      json += Array(",\"details\":[".utf8)
      for (index, detail) in details.enumerated() {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        json += Array("{\"type\":\"\(detail.type)\",\"value\":\"".utf8)
        detail.value.withUnsafeReadableBytes { json.appendBase64($0) }
        while json.last == UInt8(ascii: "=") { json.removeLast() }
        json += Array("\"}".utf8)
      }
      json.append(UInt8(ascii: "]"))
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// - Parameters:
  ///   - httpStatus: nil: that of the code.
  ///   - details: In place of those of the status; nil: those.
  package static func answer(
    _ status: RPCStatus, as httpStatus: HTTPResponseStatus? = nil, details: [Detail]? = nil
  ) -> HTTPAnswer {
    var fields: [(String, String)] = []
    if let delay = status.retryDelay { fields.append(HTTPAnswer.retryAfter(delay)) }
    // RFC 9110 section 15.5.2: the scheme that would be accepted.
    if status.code == .unauthenticated { fields.append(("www-authenticate", "Bearer")) }
    return HTTPAnswer(
      httpStatus ?? Self.httpStatus(of: status.code), contentType: "application/json",
      body: ByteBuffer(bytes: json(status, details: details)), fields: fields)
  }
}

extension [UInt8] {
  /// Appends a JSON string.
  mutating func appendText(_ text: String) {
    var text = text
    text.withUTF8 { appendJSONString(UnsafeRawBufferPointer($0)) }
  }
}
