import Framing
import NIOCore
import NIOHTTP1
import RPCServer
import Wire

/// A server-streaming call: bodies are sequences of messages, each behind a byte of flags and its
/// length in four bytes. The last one of a response says how the call ended.
struct ConnectStream: StreamTranslation {
  let method: MethodDescription
  let codec: ConnectCodec
  let header: ConnectHeader

  var fields: [(String, String)] { Self.fields(codec) }

  func call(
    from body: ByteBuffer?, peer: RPCPeer, now: NIODeadline
  ) throws(HTTPAnswer) -> FramedCall {
    guard let body else { return header.call(method, nil, codec) }
    do throws(RPCStatus) {
      return header.call(method, try Self.onlyMessage(in: body), codec)
    } catch {
      throw Self.answer(error, codec)
    }
  }

  func message(_ payload: ByteBuffer) -> ByteBuffer? {
    (try? codec.bytes(of: payload, method.response, method.anyTypes)).map {
      ConnectEnvelope.envelope(0, $0)
    }
  }

  func end(_ status: RPCStatus?) -> ByteBuffer { ConnectEnvelope.end(status) }

  func answer(to problem: RequestProblem) -> HTTPAnswer {
    Self.answer(problem.rpcStatus, codec)
  }

  /// The response to a call that is not made. Its status is OK, as that of every stream: a client reads
  /// errors in the last message only.
  static func answer(_ status: RPCStatus, _ codec: ConnectCodec) -> HTTPAnswer {
    HTTPAnswer(
      .ok, contentType: contentType(codec), body: ConnectEnvelope.end(status),
      fields: [("cache-control", "no-store")])
  }

  private static func contentType(_ codec: ConnectCodec) -> String {
    "application/connect+\(codec.rawValue)"
  }

  private static func fields(_ codec: ConnectCodec) -> [(String, String)] {
    // Proxies must not wait for the end.
    [
      ("content-type", contentType(codec)), ("cache-control", "no-store"),
      ("x-accel-buffering", "no"),
    ]
  }

  /// - Throws: the status of a body that has not exactly one message.
  private static func onlyMessage(in body: ByteBuffer) throws(RPCStatus) -> ByteBuffer {
    var body = body
    if body.readableBytes == 0 {
      throw RPCStatus(.unimplemented, "the request has no message; one is expected")
    }
    guard let flags = body.readInteger(as: UInt8.self),
      let length = body.readInteger(as: UInt32.self),
      let message = body.readSlice(length: Int(length))
    else { throw RPCStatus(.invalidArgument, "the message of the request is incomplete") }
    if flags & ConnectEnvelope.Flags.compressed != 0 {
      throw RPCStatus(.internal, "the message is compressed, and no compression was named")
    }
    if flags != 0 {
      throw RPCStatus(.invalidArgument, "the flags of the message are not 0")
    }
    if body.readableBytes > 0 {
      throw RPCStatus(.unimplemented, "the request has several messages; one is expected")
    }
    return message
  }
}
