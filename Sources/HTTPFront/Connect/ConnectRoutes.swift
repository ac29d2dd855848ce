import Framing
import NIOCore
import NIOHTTP1
import Wire

/// The methods of the Connect protocol by path, and how a request calls one.
struct ConnectRoutes: Sendable {
  private let methods: [String: MethodDescription]
  private let forwarding: ConnectHeader.Forwarding

  init(_ methods: [MethodDescription], forwarding: ConnectHeader.Forwarding) {
    self.methods = Dictionary(
      uniqueKeysWithValues: methods.map { ("/\($0.service)/\($0.name)", $0) })
    self.forwarding = forwarding
  }

  /// Nil if there is no method at this path.
  func route(_ head: HTTPRequestHead, path: Substring, query: Substring) -> HTTPRoute? {
    guard let method = methods[String(path)] else { return nil }
    switch head.method {
    case .POST: return post(head.headers, method)
    case .GET where method.allowsGET: return get(head.headers, ConnectQuery(query), method)
    default: return .answer(.notAllowed(method.allowsGET ? "GET, POST" : "POST"))
    }
  }

  private func post(_ headers: HTTPHeaders, _ method: MethodDescription) -> HTTPRoute {
    let prefix = method.isServerStreaming ? "application/connect+" : "application/"
    let type = Self.mediaType(headers)
    guard type.hasPrefix(prefix),
      let codec = ConnectCodec(rawValue: String(type.dropFirst(prefix.count)))
    else {
      let types = "\(prefix)json, \(prefix)proto"
      return .answer(
        HTTPAnswer(
          .unsupportedMediaType, text: "the content type must be one of \(types)",
          fields: [("accept-post", types)]))
    }
    do throws(RPCStatus) {
      let header = try ConnectHeader(
        headers, isStream: method.isServerStreaming, forwarding: forwarding)
      if method.isServerStreaming {
        return .stream(ConnectStream(method: method, codec: codec, header: header))
      }
      return .unary(ConnectUnary(method: method, codec: codec, header: header, query: nil))
    } catch {
      return .answer(
        method.isServerStreaming
          ? ConnectStream.answer(error, codec) : ConnectError.answer(error))
    }
  }

  private func get(
    _ headers: HTTPHeaders, _ query: ConnectQuery, _ method: MethodDescription
  ) -> HTTPRoute {
    guard let encoding = query.encoding, let codec = ConnectCodec(rawValue: encoding) else {
      return .answer(
        HTTPAnswer(.unsupportedMediaType, text: "the query needs encoding=json or encoding=proto"))
    }
    do throws(RPCStatus) {
      if let version = query.version, version != "v1" {
        throw RPCStatus(.invalidArgument, "connect is not v1")
      }
      try ConnectHeader.requireIdentity(query.compression)
      var header = try ConnectHeader(headers, isStream: false, forwarding: forwarding)
      if case .known = forwarding { header.isOfGet() }
      return .unary(
        ConnectUnary(method: method, codec: codec, header: header, query: try query.message))
    } catch {
      return .answer(ConnectError.answer(error))
    }
  }

  /// Without parameters, in lower case.
  private static func mediaType(_ headers: HTTPHeaders) -> String {
    let value = headers.first(name: "content-type") ?? ""
    let end = value.firstIndex(of: ";") ?? value.endIndex
    return value[..<end].filter { $0 != " " && $0 != "\t" }.lowercased()
  }
}

extension MethodDescription {
  /// Whether a GET may call it: it changes nothing.
  fileprivate var allowsGET: Bool { idempotency == .noSideEffects && !isServerStreaming }
}
