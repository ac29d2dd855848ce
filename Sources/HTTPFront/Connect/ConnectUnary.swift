import Framing
import NIOCore
import NIOHTTP1
import RPCServer
import Wire

/// A unary call: the body of the request and of the response is the message.
struct ConnectUnary: UnaryTranslation {
  let method: MethodDescription
  let codec: ConnectCodec
  let header: ConnectHeader
  /// The message of a GET; nil: the message is the body.
  let query: ByteBuffer?

  func call(
    from body: ByteBuffer?, peer: RPCPeer, now: NIODeadline
  ) throws(HTTPAnswer) -> FramedCall {
    header.call(method, query ?? body, codec)
  }

  func answer(to response: ResponseEnvelope, now: NIODeadline) -> HTTPAnswer {
    do throws(RPCStatus) {
      if let status = response.status { throw status }
      return HTTPAnswer(
        .ok, contentType: "application/\(codec.rawValue)",
        body: try codec.bytes(of: response.payload, method.response, method.anyTypes),
        fields: cacheFields)
    } catch {
      return answer(error)
    }
  }

  func answer(to problem: RequestProblem) -> HTTPAnswer {
    ConnectError.answer(problem.rpcStatus, as: problem.httpStatus)
  }

  private func answer(_ status: RPCStatus) -> HTTPAnswer {
    var answer = ConnectError.answer(status)
    answer.fields += cacheFields
    return answer
  }

  /// The state of a customer changes at any time, and is for its caller alone.
  private var cacheFields: [(String, String)] {
    query == nil ? [] : [("cache-control", "no-store")]
  }
}
