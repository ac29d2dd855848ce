import Framing
import HTTPFront
import Logging
import NIOCore
import RPCServer
import Synchronization
import Wire

/// A server whose Health/Check is answered by the test, and whose Health/Watch sends what the test
/// asks for.
final class ScriptedService: Sendable {
  private struct State {
    var answers: [RPCAnswer] = []
    var streams: [RPCServerStream] = []
    var cancelled = 0
  }

  private let state = Mutex(State())
  let server: RPCServer
  let front: HTTPFront

  static let path = "/\(ServiceNames.health)/Check"
  static let watchPath = "/\(ServiceNames.health)/Watch"
  static let json = [("content-type", "application/json")]
  static let proto = [("content-type", "application/proto")]

  /// - Parameter answersAtOnce: Whether Check is answered with its own request.
  init(
    _ limits: HTTPFrontLimits = HTTPFrontLimits(), server: RPCLimits = RPCLimits(),
    answersAtOnce: Bool = true
  ) {
    front = HTTPFront(APISite(), limits: limits)
    // Set below: the methods use the service.
    let owner = Owner()
    var router = RPCRouter()
    router.unary(WireMethods.checkHealth) { call, answer in
      if answersAtOnce {
        answer.succeed(call.payload)
      } else {
        answer.onCancel { owner.service?.state.withLock { $0.cancelled += 1 } }
        owner.service?.state.withLock { $0.answers.append(answer) }
      }
    }
    router.serverStreaming(WireMethods.watchHealth) { _, stream in
      stream.onCancel { owner.service?.state.withLock { $0.cancelled += 1 } }
      owner.service?.state.withLock { $0.streams.append(stream) }
    }
    self.server = RPCServer(
      router: router, limits: server,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    owner.set(self)
  }

  private final class Owner: Sendable {
    private let weakService = Mutex(Weak())

    private struct Weak {
      weak var service: ScriptedService?
    }

    var service: ScriptedService? { weakService.withLock { $0.service } }

    func set(_ service: ScriptedService) { weakService.withLock { $0.service = service } }
  }

  static func run(
    _ limits: HTTPFrontLimits = HTTPFrontLimits(), server: RPCLimits = RPCLimits(),
    answersAtOnce: Bool = true,
    _ body: (ScriptedService, ServerAddress) async throws -> Void
  ) async throws {
    let service = ScriptedService(limits, server: server, answersAtOnce: answersAtOnce)
    let addresses = try await service.server.start([
      RPCListener(.tcp(host: "127.0.0.1", port: 0), front: service.front)
    ])
    do {
      try await body(service, addresses[0])
    } catch {
      await service.server.shutDown()
      throw error
    }
    await service.server.shutDown()
  }

  /// Calls of Check that wait for their answer.
  var waiting: Int { state.withLock { $0.answers.count } }
  var cancelled: Int { state.withLock { $0.cancelled } }
  var streams: [RPCServerStream] { state.withLock { $0.streams } }

  /// Answers the calls that wait.
  func answer() {
    let answers = state.withLock { exchange(&$0.answers, with: []) }
    for answer in answers { answer.succeed(ByteBuffer(bytes: [8, 1])) }
  }
}
