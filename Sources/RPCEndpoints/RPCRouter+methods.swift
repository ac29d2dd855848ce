import RPCServer
import Wire

extension RPCRouter {
  mutating func unary<Request, Response>(
    _ method: WireMethod<Request, Response>, immediate: ImmediateBody? = nil,
    _ body: @escaping UnaryBody
  ) {
    unary(method.service, method.name, immediate: immediate, body)
  }

  mutating func serverStreaming<Request, Response>(
    _ method: WireMethod<Request, Response>, _ body: @escaping ServerStreamingBody
  ) {
    serverStreaming(method.service, method.name, body)
  }
}
