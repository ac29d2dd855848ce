import NIOCore
import RPCClient
import RPCServer
import Testing
import Wire

@Suite("Calls from the event loop", .timeLimit(.minutes(1)))
struct EventLoopCallTests {
  private static func request(_ method: String, _ text: String) -> RPCRequest {
    RPCRequest(
      service: "test.Service", method: method, payload: ByteBuffer(string: text),
      timeout: .seconds(20))
  }

  @Test("Each answer may make the next call, with many in flight")
  func chained() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      let (lanes, calls) = (16, 100)
      let answered = await withCheckedContinuation {
        (continuation: CheckedContinuation<Int, Never>) in
        connection.eventLoop.execute {
          var (answered, ended) = (0, 0)
          func call(_ lane: Int, _ number: Int) {
            connection.call(Self.request("Echo", "\(lane) \(number)")) { result in
              if (try? result.get()) == ByteBuffer(string: "\(lane) \(number)") {
                answered += 1
                if number < calls { return call(lane, number + 1) }
              }
              ended += 1
              if ended == lanes { continuation.resume(returning: answered) }
            }
          }
          for lane in 0..<lanes { call(lane, 1) }
        }
      }
      #expect(answered == lanes * calls)
      await connection.close()
    }
  }

  @Test("Failures are reported, and immediately for a closed connection")
  func failures() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      func call(_ request: RPCRequest) async -> RPCClientError? {
        await withCheckedContinuation {
          (continuation: CheckedContinuation<RPCClientError?, Never>) in
          connection.eventLoop.execute {
            connection.call(request) { result in
              if case .failure(let error) = result {
                continuation.resume(returning: error)
              } else {
                continuation.resume(returning: nil)
              }
            }
          }
        }
      }
      #expect(await call(Self.request("Fail", ""))?.code == .status(.notFound))
      var late = Self.request("Hold", "a")
      late.timeout = .milliseconds(20)
      #expect(await call(late)?.code == .status(.deadlineExceeded))
      await connection.close()
      let closed = await call(Self.request("Echo", ""))
      #expect(closed?.code == .connectionClosed)
      #expect(closed?.wasSent == false)
    }
  }
}
