import NIOCore
package import RPCServer
import Wire

/// `grpc.health.v1.Health`: an application ping, answered on the event loop.
package struct HealthEndpoint: Sendable {
  private let board: HealthBoard
  private let version: String

  /// - Parameter version: the server's; it is in each answer.
  package init(board: HealthBoard, version: String) {
    self.board = board
    self.version = version
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.checkHealth, check)
    router.serverStreaming(WireMethods.watchHealth, watch)
  }

  /// The server as a whole (an empty name), or one of its services.
  private static let knownServices: Set<String> = [
    "", ServiceNames.health, ServiceNames.entitlements, ServiceNames.links,
    ServiceNames.submissions, ServiceNames.admin,
  ]

  @Sendable
  private func check(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, HealthCheckRequest.self) { request in
      guard Self.knownServices.contains(request.service) else {
        throw RPCStatus(.notFound, "no service has this name here")
      }
      return .now(try response(board.isServing ? .serving : .notServing))
    }
  }

  /// Sends the status, and every change of it. As the health protocol asks, a service that is not
  /// known is told as such and the stream stays open.
  @Sendable
  private func watch(_ call: RPCCall, _ stream: RPCServerStream) {
    do {
      let request = try HealthCheckRequest.decode(from: call.payload)
      guard Self.knownServices.contains(request.service) else {
        stream.send(try response(.serviceUnknown))
        return
      }
      let eventLoop = call.eventLoop
      let watcher = board.watch { isServing in
        guard let payload = try? response(isServing ? .serving : .notServing) else { return }
        // Never at once: sending may find the client gone, which ends this very watch.
        eventLoop.execute { stream.send(payload) }
      }
      stream.onCancel { board.endWatch(watcher) }
    } catch {
      stream.fail(RPCStatus(mapping: error))
    }
  }

  private func response(
    _ status: HealthCheckResponse.ServingStatus
  ) throws(MessageError) -> ByteBuffer {
    try HealthCheckResponse(status: status, version: version).encoded()
  }
}
