import EntitlementDomain
import Framing
import NIOCore
import RPCServer
import Testing
import Wire

@testable import RPCClient

@Suite("EntitlementClient: watches", .timeLimit(.minutes(1)))
struct EntitlementClientWatchTests {
  private static let change = CustomerChange(
    sequence: 8, scope: ScriptedServer.scope, subject: .account("a"), committedAt: 4,
    kinds: [.facts], state: ScriptedServer.state(of: "a"))

  private static let responses = [
    WatchCustomerStatesResponse(cursor: "7"),
    WatchCustomerStatesResponse(cursor: "8", change: change),
  ]

  /// A server that sends the responses to whoever asks as `request` does, and ends as `end` has it.
  private static func router(
    for request: WatchCustomerStatesRequest = WatchCustomerStatesRequest(),
    _ end: @escaping @Sendable (RPCServerStream) -> Void
  ) -> RPCRouter {
    var router = RPCRouter()
    let method = WireMethods.watchCustomerStates
    router.serverStreaming(method) { call, stream in
      guard (try? WatchCustomerStatesRequest.decode(from: call.payload)) == request else {
        return stream.fail(RPCStatus(.invalidArgument, "another request"))
      }
      for response in responses {
        if let message = try? response.encoded() { stream.send(message) }
      }
      end(stream)
    }
    return router
  }

  /// Reads a watch until it ends.
  private static func read(
    _ watch: CustomerWatchSequence
  ) async -> ([WatchCustomerStatesResponse], CustomerWatchError?) {
    var seen: [WatchCustomerStatesResponse] = []
    do {
      for try await response in watch { seen.append(response) }
      return (seen, nil)
    } catch {
      return (seen, error)
    }
  }

  @Test("A watch gives what comes, and its error says where to go on")
  func failing() async throws {
    let request = WatchCustomerStatesRequest(cursor: "6", bundleID: "b", kinds: [.facts])
    let router = Self.router(for: request) { $0.fail(RPCStatus(.resourceExhausted, "too slow")) }
    try await ScriptedServer.run(router) { client in
      let (seen, error) = await Self.read(try client.watchCustomerStates(request))
      #expect(seen == Self.responses)
      #expect(error?.cursor == "8")
      #expect(error?.cause.code == .status(.resourceExhausted))
      #expect(error?.isTransient == true)
    }
  }

  @Test("A watch that the server ends, in whatever way, has not come to an end of its own")
  func ending() async throws {
    try await ScriptedServer.run(Self.router { $0.finish() }) { client in
      let (seen, error) = await Self.read(try client.watchCustomerStates(.init()))
      #expect(seen == Self.responses)
      #expect(error?.cursor == "8")
      #expect(error?.cause.code == .connectionClosed)
      #expect(error?.isTransient == true)
    }
  }

  @Test("A watch that is refused goes on where it was asked to", arguments: [nil, "41"])
  func refusal(cursor: String?) async throws {
    var router = RPCRouter()
    let method = WireMethods.watchCustomerStates
    router.serverStreaming(method) { _, stream in
      stream.fail(RPCStatus(.outOfRange, "trimmed"))
    }
    try await ScriptedServer.run(router) { client in
      let request = WatchCustomerStatesRequest(cursor: cursor)
      let (seen, error) = await Self.read(try client.watchCustomerStates(request))
      #expect(seen == [])
      #expect(error?.cursor == cursor)
      #expect(error?.cause.code == .status(.outOfRange))
      #expect(error?.isTransient == false)
    }
  }

  @Test("A server that says nothing for too long counts as gone")
  func silence() async throws {
    try await ScriptedServer.run(Self.router { _ in }) { client in
      let watch = try client.watchCustomerStates(.init(), silence: .seconds(2))
      let (seen, error) = await Self.read(watch)
      #expect(seen == Self.responses)
      #expect(error?.cursor == "8")
      #expect(error?.cause.code == .connectionClosed)
      #expect(error?.cause.message.contains("sent nothing") == true)
      #expect(error?.isTransient == true)
    }
  }

  @Test("Silence counts from the last message that came, read or not")
  func hearing() {
    let queue = MessageQueue(limit: 1)
    while queue.silence < .milliseconds(5) {}
    let moment = ContinuousClock.now
    #expect(queue.deliver(ByteBuffer()))
    #expect(queue.silence <= moment.duration(to: .now))
  }

  @Test("Cancelling the reader ends the watch with what it had")
  func cancelling() async throws {
    try await ScriptedServer.run(Self.router { _ in }) { client in
      let watch = try client.watchCustomerStates(.init())
      let (progress, continuation) = AsyncStream<String>.makeStream()
      let reader = Task { () -> CustomerWatchError? in
        do throws(CustomerWatchError) {
          var iterator = watch.makeAsyncIterator()
          while let response = try await iterator.next() { continuation.yield(response.cursor) }
          return nil
        } catch {
          return error
        }
      }
      for await cursor in progress where cursor == "8" { break }
      reader.cancel()
      let error = await reader.value
      #expect(error?.cursor == "8")
      #expect(error?.cause.code == .status(.cancelled))
      #expect(error?.isTransient == false)
    }
  }

  @Test("What makes sense to try again is told from what does not")
  func passing() {
    let codes: [(RPCClientError.Code, Bool)] = [
      (.unreachable, true), (.connectionClosed, true), (.status(.unavailable), true),
      (.status(.resourceExhausted), true), (.status(.aborted), true),
      (.status(.deadlineExceeded), true), (.status(.outOfRange), false),
      (.status(.invalidArgument), false), (.status(.permissionDenied), false),
      (.status(.unauthenticated), false), (.status(.internal), false),
      (.status(.unimplemented), false), (.status(.cancelled), false),
    ]
    for (code, isTransient) in codes {
      let error = CustomerWatchError(cause: RPCClientError(code, "m"), cursor: nil)
      #expect(error.isTransient == isTransient, "\(code)")
    }
  }
}
