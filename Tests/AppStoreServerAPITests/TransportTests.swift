import EntitlementDomain
import Glibc
import NIOCore
import OutboundHTTP
import TestSupport
import Testing
import Tracing

@testable import AppStoreServerAPI
@testable import Traces

@Suite("Connections, bounds and the end of a client", .timeLimit(.minutes(2)))
struct TransportTests {
  @Test("An answer beyond the limit is refused, by its length or as it comes")
  func tooLong() async throws {
    var limits = AppStoreServerLimits()
    limits.responseLength = 1_000
    let frame = #"{"signedTransactionInfo":""}"#.utf8.count
    func answer(_ length: Int) -> StubServer.Answer {
      let text = String(repeating: "x", count: length - frame)
      return .json(#"{"signedTransactionInfo":"\#(text)"}"#)
    }
    try await Bench.run([answer(1_000), answer(1_001), .drip(500)], limits: limits) { bench in
      #expect(await bench.failure() == nil)
      for _ in 0..<2 {
        let error = await bench.failure()
        #expect(error?.code == .responseTooLong)
        #expect(error?.message == "the answer has more than 1000 bytes")
        #expect(error?.isRetryable == false)
      }
      #expect(bench.server.requests.count == 3)
    }
  }

  @Test("A page of two megabytes is read")
  func large() async throws {
    let payload = String(repeating: "a", count: 100_000)
    let payloads = Array(repeating: "\"\(payload)\"", count: 20).joined(separator: ",")
    try await Bench.run([
      .json(#"{"signedTransactions":[\#(payloads)],"revision":"r","hasMore":false}"#)
    ]) { bench in
      let page = try await bench.client.history(
        of: TransactionID("1"), in: Bench.app, deadline: bench.deadline)
      #expect(page.signedTransactions == Array(repeating: payload, count: 20))
    }
  }

  @Test("Neither silence nor a slow drip outlasts the deadline")
  func deadline() async throws {
    try await withThrowingTaskGroup { group in
      for answer: StubServer.Answer in [.silence, .drip(1)] {
        group.addTask {
          try await Bench.run(server: StubServer([answer]), observed: ObservedClock()) { bench in
            let call = Task {
              await #expect(throws: AppStoreServerError.self) {
                try await bench.client.finish(
                  "1", in: Bench.app, deadline: .now() + .seconds(10))
              }
            }
            await bench.server.received(1)
            let error = await call.value
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.isRetryable == true)
            #expect(error?.mayHaveTakenEffect == true)
            #expect(bench.server.requests.count == 1)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("A request without an answer is given up after some time, and repeated")
  func stuck() async throws {
    var limits = AppStoreServerLimits()
    limits.attemptTime = .seconds(2)
    var once = limits
    once.attempts = 1
    try await withThrowingTaskGroup { [limits, once] group in
      for answer: StubServer.Answer in [.silence, .drip(1)] {
        group.addTask {
          try await Bench.run([answer, .transaction], limits: limits) { bench in
            let transaction = try await bench.transaction()
            #expect(transaction == "a.b.c")
            #expect(bench.server.requests.count >= 2)
          }
        }
      }
      group.addTask {
        try await Bench.run([.silence], limits: once) { bench in
          let error = await bench.failure()
          #expect(error?.code == .unreachable)
          #expect(error?.message == "no answer in time")
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("A request that no connection was free for is not sent, and says so")
  func busyConnections() async throws {
    var limits = AppStoreServerLimits()
    limits.connectionsPerHost = 1
    limits.connectionTime = .seconds(5)
    limits.attempts = 1
    try await Bench.run([.silence], limits: limits) { bench in
      let first = Task { await bench.failure()?.code }
      await bench.server.received(1)
      let error = await #expect(throws: AppStoreServerError.self) {
        try await bench.client.finish("1", in: Bench.app, deadline: bench.deadline)
      }
      #expect(error?.code == .busy)
      #expect(error?.message == "no connection was free in time")
      #expect(error?.isRetryable == true)
      #expect(error?.mayHaveTakenEffect == false)
      #expect(bench.server.requests.count == 1)
      first.cancel()
      #expect(await first.value == .cancelled)
    }
  }

  @Test("A port without a server is unreachable, and nothing was sent")
  func closedPort() async throws {
    // Bound, so that no other process gets the port, and not listening.
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isBound = withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(isBound == 0)
    let port = try #require(socketPort(descriptor, getsockname))
    var addresses = AppStoreServerAddresses()
    addresses.production = try OutboundAddress(parsing: "http://127.0.0.1:\(port)")
    let clock = TestClock()
    let client = AppStoreServerClient(
      addresses: addresses, keys: try Bench.keys(), clock: clock.clock)
    let error = await #expect(throws: AppStoreServerError.self) {
      _ = try await client.extendRenewal(
        of: "10", by: .init(days: 1, reason: .other, requestIdentifier: "r"), in: Bench.app,
        deadline: clock.uptime + .minutes(1))
    }
    #expect(error?.code == .unreachable)
    #expect(error?.message == "no connection")
    #expect(error?.mayHaveTakenEffect == false)
    // It was safe to try again.
    #expect(client.statistics.requests == 6)
    await client.shutDown(deadline: clock.uptime)
  }

  @Test("One connection carries calls in turn, and many calls share a bounded number")
  func connections() async throws {
    var limits = AppStoreServerLimits()
    limits.connectionsPerHost = 3
    try await Bench.run([.transaction], limits: limits) { bench in
      for _ in 0..<20 { #expect(await bench.failure() == nil) }
      #expect(bench.server.connections == 1)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<20 {
          group.addTask { #expect(await bench.failure() == nil) }
        }
      }
      #expect(bench.server.connections <= 3)
      #expect(bench.server.requests.count == 40)
    }
  }

  @Test("A cancelled call ends as cancelled, and its request with it")
  func cancellation() async throws {
    try await Bench.run([.silence, .drip(1)]) { bench in
      for count in 1...2 {
        let call = Task { await bench.failure() }
        await bench.server.received(count)
        call.cancel()
        #expect(await call.value?.code == .cancelled)
      }
    }
  }

  @Test("A traced call has a span, which has no id and no address")
  func span() async throws {
    let buffer = SpanBuffer()
    let tracer = CallTracer(ratio: 1, buffer: buffer)
    let context = try #require(
      TraceContext(parents: ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"], states: [])
    )
    try await Bench.run([.transaction, .error(4_040_010)]) { bench in
      let call = tracer.startCall("a.B/C", system: "ttrpc", in: context, age: 0)
      for _ in 0..<2 {
        _ = await InstrumentationContext.$current.withValue(call.context) { await bench.failure() }
      }
      _ = await bench.failure()
    }
    let spans = buffer.take()
    #expect(spans.map(\.name) == ["app_store.transaction", "app_store.transaction"])
    for span in spans {
      #expect(span.attributes.get("app_store.environment") == .string("Production"))
    }
    #expect(spans[0].attributes.get("error.type") == nil)
    #expect(spans[1].attributes.get("error.type") == .string("refused"))
  }
}
