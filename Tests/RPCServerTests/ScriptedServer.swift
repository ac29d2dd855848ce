import EntitlementDomain
import Framing
import Logging
import RPCClient
import RPCServer
import Wire

/// A real server that answers from a script, for tests of the typed client.
enum ScriptedServer {
  static let scope = AppScope(bundleID: "com.example.scribe", environment: .sandbox)

  static func state(of account: String) -> CustomerState {
    CustomerState(
      scope: scope, accountID: AccountID(account), revision: 8, evaluatedAt: 4, coreState: .new,
      callsToAction: [.merchandise], entitlements: [], products: [], groups: [],
      nextTransitionAt: nil)
  }

  static func answer<Request, Response>(
    _ method: WireMethod<Request, Response>, in router: inout RPCRouter,
    _ body: @escaping @Sendable (Request) throws(MessageError) -> Response
  ) {
    router.unary(method) { call, answer in
      do throws(MessageError) {
        answer.succeed(try body(try Request.decode(from: call.payload)).encoded())
      } catch {
        answer.fail(RPCStatus(.invalidArgument, error.description))
      }
    }
  }

  /// Answers one request, and any other with an error.
  static func answer<Request: Equatable, Response>(
    _ method: WireMethod<Request, Response>, in router: inout RPCRouter, to expected: Request,
    with response: Response
  ) {
    answer(method, in: &router) { request throws(MessageError) in
      guard request == expected else {
        throw MessageError(.unknownValue(field: "request"), in: method.name)
      }
      return response
    }
  }

  /// Every call is made once.
  static let once = EntitlementClientConfiguration(timeout: .seconds(20), retries: .off)

  /// A server on a free port.
  static func start(_ router: RPCRouter) async throws -> (server: RPCServer, address: ServerAddress)
  {
    let server = RPCServer(
      router: router,
      limits: RPCLimits(shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100)),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let addresses = try await server.start(on: [.tcp(host: "127.0.0.1", port: 0)])
    return (server, addresses[0])
  }

  /// Runs `body` with a client of servers with these methods, and closes all afterwards.
  static func run(
    _ routers: RPCRouter..., configuration: EntitlementClientConfiguration = once,
    _ body: (EntitlementClient, [RPCServer]) async throws -> Void
  ) async throws {
    var servers: [RPCServer] = []
    var addresses: [ServerAddress] = []
    for router in routers {
      let (server, address) = try await start(router)
      servers.append(server)
      addresses.append(address)
    }
    let client = EntitlementClient(addresses, configuration: configuration)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(client, servers))
    } catch {
      result = .failure(error)
    }
    await client.close(within: .zero)
    for server in servers { await server.shutDown() }
    try result.get()
  }

  static func run(
    _ router: RPCRouter, _ body: (EntitlementClient) async throws -> Void
  ) async throws {
    try await run(router) { client, _ in try await body(client) }
  }
}
