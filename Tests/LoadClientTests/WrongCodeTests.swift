import Framing
import NIOCore
import RPCServer
import Testing
import Wire

@testable import LoadClient

@Suite("Answers that are error codes", .timeLimit(.minutes(1)))
struct WrongCodeTests {
  private func run(_ code: RPCCode) async throws -> Tally {
    let stage = try LoadStage()
    let server = try await stage.server { $0.fail(RPCStatus(code, "no")) }
    let result = try await stage.load(.closed(inFlight: 2), count: 8).run()
    await server.shutDown()
    #expect(result.total.all.errors == [code.name: 8])
    return result.total
  }

  @Test(
    "a code that a correct server never returns is a wrong answer",
    arguments: [
      RPCCode.invalidArgument, .notFound, .permissionDenied, .failedPrecondition, .unimplemented,
      .internal, .unknown, .unauthenticated,
    ])
  func wrong(code: RPCCode) async throws {
    let tally = try await run(code)
    #expect(tally.wrong == 8)
    #expect(tally.faults.first == "GetCustomerState was answered \(code.name): no")
  }

  @Test(
    "a code of an overloaded or stopping server is not a wrong answer",
    arguments: [
      RPCCode.resourceExhausted, .unavailable, .deadlineExceeded, .aborted, .cancelled,
    ])
  func right(code: RPCCode) async throws {
    #expect(try await run(code).wrong == 0)
  }
}
