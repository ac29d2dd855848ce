import Foundation
import Framing
import NIOCore
import RPCServer
import Wire

/// `ConformanceService`, as docs/testing_servers.md of the suite and the comments of its protos describe it:
/// requests say how they are answered, and answers tell what arrived.
struct ConformanceService {
  static let name = "connectrpc.conformance.v1.ConformanceService"
  private static let package = "connectrpc.conformance.v1"

  /// The metadata key with the query of a GET. No header field can have this name.
  static let queryKey = ":query"

  static func register(in router: inout RPCRouter) {
    for method in ["Unary", "IdempotentUnary"] {
      router.unary(name, method, permission: .open) { call, answer in
        do throws(WireError) {
          try Self.answer(call, "\(package).\(method)Request", answer)
        } catch {
          answer.fail(RPCStatus(.invalidArgument, "the request cannot be read"))
        }
      }
    }
    router.serverStreaming(name, "ServerStream", permission: .open) { call, stream in
      do throws(WireError) {
        try Self.send(call, stream)
      } catch {
        stream.fail(RPCStatus(.invalidArgument, "the request cannot be read"))
      }
    }
  }

  private static func answer(
    _ call: RPCCall, _ type: String, _ answer: RPCAnswer
  ) throws(WireError) {
    let definition = try ResponseDefinition(ofRequest: call.payload, isStream: false)
    var reply = Reply(definition)
    let information = requestInformation(call, type)
    if reply.error != nil {
      reply.error?.details.append(detail(information))
    } else {
      reply.message = response(data: definition.data.last, information)
    }
    let encoded = reply.encoded
    guard definition.delay > .zero else {
      answer.succeed(encoded)
      return
    }
    call.eventLoop.scheduleTask(in: TimeAmount(definition.delay)) { answer.succeed(encoded) }
  }

  private static func send(_ call: RPCCall, _ stream: RPCServerStream) throws(WireError) {
    let definition = try ResponseDefinition(ofRequest: call.payload, isStream: true)
    let information = requestInformation(call, "\(package).ServerStreamRequest")
    var end = Reply(definition)
    if definition.data.isEmpty { end.error?.details.append(detail(information)) }
    var replies: [ByteBuffer] = []
    for (index, data) in definition.data.enumerated() {
      // What arrived is the same for all: the first one tells it.
      replies.append(Reply(response(data: data, index == 0 ? information : nil)).encoded)
    }
    sendNext(replies[...], end.encoded, after: definition.delay, stream)
  }

  private static func sendNext(
    _ replies: ArraySlice<ByteBuffer>, _ end: ByteBuffer, after delay: Duration,
    _ stream: RPCServerStream
  ) {
    guard let next = replies.first else {
      stream.send(end)
      stream.finish()
      return
    }
    guard delay > .zero else {
      stream.send(next)
      sendNext(replies.dropFirst(), end, after: delay, stream)
      return
    }
    stream.peer.eventLoop.scheduleTask(in: TimeAmount(delay)) {
      stream.send(next)
      sendNext(replies.dropFirst(), end, after: delay, stream)
    }
  }

  // MARK: Messages

  /// `UnaryResponse`, `IdempotentUnaryResponse` or `ServerStreamResponse`.
  private static func response(data: ByteBuffer?, _ information: ByteBuffer?) -> ByteBuffer {
    var payload = ByteBuffer()
    if let data, data.readableBytes > 0 { payload.writeField(1, bytes: data) }
    if let information { payload.writeField(2, bytes: information) }
    var response = ByteBuffer()
    response.writeField(1, bytes: payload)
    return response
  }

  private static func detail(_ information: ByteBuffer) -> TypedMessage {
    TypedMessage(type: "\(package).ConformancePayload.RequestInfo", value: information)
  }

  /// `ConformancePayload.RequestInfo`.
  private static func requestInformation(_ call: RPCCall, _ type: String) -> ByteBuffer {
    var bytes = ByteBuffer()
    let pairs = call.metadata.pairs
    for header in fields(pairs.filter { $0.key != queryKey }) {
      bytes.writeField(1, bytes: header.encoded)
    }
    if let deadline = call.deadline {
      let left = (deadline - call.eventLoop.now).nanoseconds / 1_000_000
      bytes.writeField(2, integer: max(1, left))
    }
    bytes.writeField(3, bytes: TypedMessage(type: type, value: call.payload).encoded)
    if let query = call.metadata[queryKey].first {
      var get = ByteBuffer()
      for parameter in fields(parameters(query)) {
        get.writeField(1, bytes: parameter.encoded)
      }
      bytes.writeField(4, bytes: get)
    }
    return bytes
  }

  /// Joins the values of each name.
  private static func fields(_ pairs: [(key: String, value: String)]) -> [HeaderField] {
    var fields: [HeaderField] = []
    for (key, value) in pairs {
      if let index = fields.firstIndex(where: { $0.name == key }) {
        fields[index].values.append(value)
      } else {
        fields.append(HeaderField(name: key, values: [value]))
      }
    }
    return fields
  }

  private static func parameters(_ query: String) -> [(key: String, value: String)] {
    query.split(separator: "&").map { parameter in
      // Clients write a query as a form, with a plus for each space.
      let parts = parameter.split(separator: "=", maxSplits: 1).map { part in
        let text = String(part.replacing("+", with: " "))
        return text.removingPercentEncoding ?? text
      }
      return (parts.first ?? "", parts.count == 2 ? parts[1] : "")
    }
  }
}
