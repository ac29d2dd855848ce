import RPCServer
import Testing
import Wire

/// A server's reads, each held until it is let go.
final class HeldReads: Sendable {
  private let arrivals: AsyncStream<RPCAnswer>
  private let continuation: AsyncStream<RPCAnswer>.Continuation

  init() {
    (arrivals, continuation) = AsyncStream.makeStream()
  }

  var router: RPCRouter {
    var router = RPCRouter()
    let method = WireMethods.getCustomerState
    router.unary(method) { _, answer in self.continuation.yield(answer) }
    return router
  }

  func next() async throws -> RPCAnswer {
    var iterator = arrivals.makeAsyncIterator()
    return try #require(await iterator.next())
  }

  /// Answers with revision 7.
  static func letGo(_ answer: RPCAnswer) throws {
    answer.succeed(try GetCustomerStateResponse.notModified(revision: 7).encoded())
  }
}
