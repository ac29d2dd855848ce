import Framing
import NIOCore
import NIOHTTP1
import RPCServer
import Wire

/// What the header of a call says, apart from its message.
struct ConnectHeader: Sendable {
  /// Which header fields become metadata of the call.
  enum Forwarding: Sendable {
    /// A closed list: what the service reads.
    case known
    /// All but those of HTTP and of the protocol.
    case all
  }

  /// As in ``FramedCall``.
  let timeoutNanoseconds: Int64
  private(set) var metadata: [(key: String, value: String)]

  private static let known = [RequestEnvelope.authorizationName, "traceparent", "tracestate"]
  private static let ofHTTP: Set = [
    "host", "connection", "content-length", "content-type", "content-encoding", "transfer-encoding",
    "accept", "accept-encoding", "te", "expect", "upgrade", "keep-alive",
  ]

  /// - Throws: the status of a call that this server does not support.
  init(
    _ headers: HTTPHeaders, isStream: Bool, forwarding: Forwarding
  ) throws(RPCStatus) {
    if let version = headers.first(name: "connect-protocol-version"), version != "1" {
      throw RPCStatus(.invalidArgument, "connect-protocol-version is not 1")
    }
    try Self.requireIdentity(
      headers.first(name: isStream ? "connect-content-encoding" : "content-encoding"))
    timeoutNanoseconds = try Self.timeout(headers.first(name: "connect-timeout-ms"))
    switch forwarding {
    case .known:
      metadata = Self.known.flatMap { name in
        headers[name].map { (key: name, value: $0) }
      }
    case .all:
      metadata = headers.compactMap { field in
        let name = field.name.lowercased()
        let isOurs = Self.ofHTTP.contains(name) || name.hasPrefix("connect-")
        return isOurs ? nil : (key: name, value: field.value)
      }
    }
  }

  /// Says in the metadata that the request is a GET: the service reads it.
  mutating func isOfGet() {
    metadata.append((key: RPCCall.getName, value: "1"))
  }

  /// The call with this message. JSON is converted when the call is admitted.
  ///
  /// - Parameter message: nil: it was not kept.
  func call(_ method: MethodDescription, _ message: ByteBuffer?, _ codec: ConnectCodec)
    -> FramedCall
  {
    var call = FramedCall(method, timeoutNanoseconds: timeoutNanoseconds, metadata: metadata)
    switch (message, codec) {
    case (nil, _): call.conversion = .withheld(needsCaller: method.needsCaller)
    case (let message?, .proto): call.payload = message
    case (let message?, .json):
      call.conversion = RequestConversion(message) { message in
        codec.wire(of: message, method.request, method.anyTypes)
      }
    }
    return call
  }

  /// - Throws: UNIMPLEMENTED for a compressed request.
  static func requireIdentity(_ encoding: String?) throws(RPCStatus) {
    if let encoding, !encoding.isEmpty, encoding.lowercased() != "identity" {
      throw RPCStatus(.unimplemented, "unknown compression; supported: identity")
    }
  }

  private static func timeout(_ text: String?) throws(RPCStatus) -> Int64 {
    guard let text else { return 0 }
    guard (1...10).contains(text.utf8.count),
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let milliseconds = Int64(text)
    else {
      throw RPCStatus(.invalidArgument, "connect-timeout-ms is not a number of 1 to 10 digits")
    }
    // In a frame, 0 means no timeout.
    return milliseconds == 0 ? -1 : milliseconds * 1_000_000
  }
}

extension MethodDescription {
  /// Whether a call is refused without a known caller.
  fileprivate var needsCaller: Bool { WireMethods.permissions["\(service)/\(name)"] != .open }
}
