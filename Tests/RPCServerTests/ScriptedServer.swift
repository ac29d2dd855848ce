import EntitlementDomain
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
    router.unary(method.service, method.name) { call, answer in
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

  /// Runs `body` with a client of a server with these methods, and closes both afterwards.
  static func run(
    _ router: RPCRouter, _ body: (EntitlementClient) async throws -> Void
  ) async throws {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = RPCServer(router: router, logger: logger)
    let addresses = try await server.start(on: [.tcp(host: "127.0.0.1", port: 0)])
    let client = try await EntitlementClient.connect(to: addresses[0], timeout: .seconds(20))
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(client))
    } catch {
      result = .failure(error)
    }
    await client.close()
    await server.shutDown()
    try result.get()
  }
}
