import EntitlementDomain
import Foundation
import Framing
import NIOCore
import RPCClient
import StoreSimulator
import Testing
import Wire

/// Invalid input from the wire gets an error, the server goes on, and none of it is stored.
@Suite("Invalid input from the wire", .timeLimit(.minutes(5)))
struct HostileClientTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  /// Starts a server with some customers, runs `body`, and checks that the server still works.
  private func mistreat(_ body: (RunningServer) async throws -> Void) async throws {
    let first = try await bench.startServer()
    try await bench.submit(Bench.population(6, seed: 3), to: first)
    let before = try await StateList.read(from: first)
    #expect(before.count == 6)
    #expect(try await first.stop() == .code(0))
    let changes = try await StoredChanges.count(inDatabase: bench.databasePath)

    let server = try await bench.startServer()
    try await body(server)
    #expect(try await Bench.control(server, "health").output.hasPrefix(Bench.serving))
    #expect(try await StateList.read(from: server) == before)
    #expect(try await server.stop() == .code(0))
    #expect(try await StoredChanges.count(inDatabase: bench.databasePath) == changes)
  }

  // MARK: Frames

  private var healthCheck: ByteBuffer {
    get throws {
      Frames.request(
        9_999, WireMethods.checkHealth, try HealthCheckRequest(service: "").encoded())
    }
  }

  /// A valid submission that would be stored.
  private var submission: ByteBuffer {
    get throws {
      let facts = try bench.signed(.nonConsumable, seed: 77).flatMap(\.facts)
      return try SubmitSignedTransactionsRequest(signedPayloads: facts, accountID: "ACCOUNT")
        .encoded()
    }
  }

  @Test func `a call that makes no sense gets its error, and the connection lives`() async throws {
    let submit = WireMethods.submitSignedTransactions
    let good = try submission
    var notText = good
    let position = try #require(good.readableBytesView.firstRange(of: Array("ACCOUNT".utf8)))
    notText.setBytes([0xC3, 0x28, 0xA0, 0xA1], at: position.lowerBound)
    let rows: [(String, ByteBuffer, String)] = [
      (
        "an unknown method",
        Frames.request(1, service: submit.service, method: "Submit", good), "UNIMPLEMENTED"
      ),
      (
        "an unknown service",
        Frames.request(1, service: "com.example.None", method: submit.name, good), "UNIMPLEMENTED"
      ),
      ("an even stream id", Frames.request(2, submit, good), "INVALID_ARGUMENT"),
      ("stream id zero", Frames.request(0, submit, good), "INVALID_ARGUMENT"),
      (
        "an envelope that is cut", Frames.frame(1, data: ByteBuffer(bytes: [0x0A, 200, 1])),
        "INVALID_ARGUMENT"
      ),
      (
        "a service name that is not UTF-8",
        Frames.frame(1, data: ByteBuffer(bytes: [0x0A, 2, 0xC3, 0x28])), "INVALID_ARGUMENT"
      ),
      ("an account id that is not UTF-8", Frames.request(1, submit, notText), "INVALID_ARGUMENT"),
      ("no payload at all", Frames.request(1, submit, ByteBuffer()), "INVALID_ARGUMENT"),
      (
        "a message of wrong types",
        Frames.request(1, submit, ByteBuffer(bytes: [0x08, 1, 0x10, 1, 0x18, 1])),
        "INVALID_ARGUMENT"
      ),
      (
        "a message of nothing but ones",
        Frames.request(1, submit, ByteBuffer(repeating: 0xFF, count: 100)), "INVALID_ARGUMENT"
      ),
      (
        "a message that is cut",
        Frames.request(1, submit, good.getSlice(at: 0, length: good.readableBytes - 1) ?? good),
        "INVALID_ARGUMENT"
      ),
      (
        "a frame that is too long",
        Frames.frame(
          1, data: ByteBuffer(repeating: 0x0A, count: RPCLimits.maximumFrameData + 1)),
        "RESOURCE_EXHAUSTED"
      ),
    ]
    try await mistreat { server in
      let client = try RawClient(server.address)
      for (name, frame, code) in rows {
        try client.send(frame)
        #expect(try client.receiveCode() == code, "\(name)")
        try client.send(try healthCheck)
        #expect(try client.receiveCode() == "OK", "\(name)")
      }
    }
  }

  @Test func `what is not this protocol gets an error and the end of the connection`()
    async throws
  {
    try await mistreat { server in
      for text in ["GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}"] {
        let client = try RawClient(server.address)
        try client.send(ByteBuffer(string: text + String(repeating: "x", count: 10)))
        #expect(try client.receiveCode() == "RESOURCE_EXHAUSTED")
        #expect(try client.receiveCode() == nil)
      }
    }
  }

  @Test func `a submission that is cut off at any place is not stored`() async throws {
    let frame = Frames.request(1, WireMethods.submitSignedTransactions, try submission)
    let lengths =
      Array(0...12) + stride(from: 13, to: frame.readableBytes, by: 397)
      + [frame.readableBytes - 1]
    try await mistreat { server in
      for length in lengths {
        let client = try RawClient(server.address)
        try client.send(try #require(frame.getSlice(at: 0, length: length)))
        if length.isMultiple(of: 2) {
          client.reset()
        } else {
          client.closeOutput()
          #expect(try client.receive() == nil, "cut at \(length)")
        }
      }
    }
  }

  @Test func `the submission that the others damage is a good one`() async throws {
    let server = try await bench.startServer()
    let client = try RawClient(server.address)
    try client.send(Frames.request(1, WireMethods.submitSignedTransactions, try submission))
    let frame = try #require(try client.receive())
    let response = try ResponseEnvelope(decoding: frame.data)
    let answer = try SubmitSignedTransactionsResponse.decode(from: response.payload)
    #expect(answer.results.map(\.disposition) == [.added])
  }

  @Test func `clients that vanish with calls in flight leave no trace`() async throws {
    let request = GetCustomerStateRequest(customer: .account("customer-001"), scope: Bench.scope)
    let payload = try request.encoded()
    try await mistreat { server in
      for round in 0..<50 {
        let client = try RawClient(server.address)
        for call in 0..<20 {
          try client.send(
            Frames.request(UInt32(2 * call + 1), WireMethods.getCustomerState, payload))
        }
        if round.isMultiple(of: 2) { client.reset() } else { client.close() }
      }
    }
  }

  @Test func `watches whose answers nobody reads end with their connection`() async throws {
    // In one write: the answers exceed the output buffer while calls are left to read, and by then
    // the client has disconnected.
    let watch = try HealthCheckRequest(service: "").encoded()
    var bytes = ByteBuffer()
    for call: UInt32 in 0..<700 {
      if call == 100 {
        // Each is answered with an error.
        for _ in 0..<1_600 { bytes.writeImmutableBuffer(Frames.header(2, length: 0)) }
      }
      bytes.writeImmutableBuffer(Frames.request(2 * call + 1, WireMethods.watchHealth, watch))
    }
    try await mistreat { server in
      for _ in 0..<50 {
        let client = try RawClient(server.address)
        _ = try client.trySend(bytes)
        client.close()
      }
    }
  }

  @Test func `random bytes, and damaged frames`() async throws {
    let seed = UInt64.random(in: 0...999_999)
    print("HostileClientTests: seed of the random bytes: \(seed)")
    var generator = SeededGenerator(seed: seed)
    // A change at any position leaves it refused: its signature is invalid.
    let forged = try CompactJWS(try #require(try bench.signed(.grace).first?.transactions.first))
      .forged(replacing: "PURCHASED", with: "PURCHASES")
    let request = Frames.request(
      1, WireMethods.submitSignedTransactions,
      try SubmitSignedTransactionsRequest(signedPayloads: [forged]).encoded())
    try await mistreat { server in
      for round in 0..<150 {
        var bytes: ByteBuffer
        switch round % 3 {
        case 0:
          bytes = Self.noise(&generator)
        case 1:
          bytes = Frames.frame(
            UInt32(truncatingIfNeeded: generator.next()),
            type: FrameType(rawValue: UInt8(generator.number(below: 5))),
            data: Self.noise(&generator))
        default:
          bytes = request
          for _ in 0...generator.number(below: 4) {
            // After the length: a changed length would only make the server wait for more bytes.
            let position = 4 + generator.number(below: request.readableBytes - 4)
            bytes.setInteger(UInt8(truncatingIfNeeded: generator.next()), at: position)
          }
        }
        let client = try RawClient(server.address)
        if try client.trySend(bytes) { client.closeOutput() }
        // At most one answer, and then the end of the connection.
        while let frame = try client.receive() {
          #expect(frame.data.readableBytes < 1_000, "seed \(seed), round \(round)")
        }
      }
    }
  }

  private static func noise(_ generator: inout SeededGenerator) -> ByteBuffer {
    let count = generator.number(below: 300)
    return ByteBuffer(bytes: (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
  }

  // MARK: Payloads

  @Test func `a payload that must not be believed gets its verdict`() async throws {
    let rows = try HostilePayloads(bench).rows
    try await mistreat { server in
      let client = try await server.client()
      for (name, payload, verdict) in rows {
        let facts = try await client.submitSignedTransactions(
          SubmitSignedTransactionsRequest(signedPayloads: [payload], accountID: "attacker"))
        #expect(facts.results.map(\.verdict) == [verdict], "\(name)")
        #expect(facts.results.allSatisfy { $0.detail != nil && $0.disposition == nil }, "\(name)")
        #expect(facts.customers.isEmpty, "\(name)")
        let notification = try await client.submitNotification(
          SubmitNotificationRequest(signedPayload: payload, accountID: "attacker"))
        #expect(notification.verdict != .ok, "\(name)")
        #expect(notification.customers.isEmpty, "\(name)")
      }
      // All payloads at once, each judged alone.
      let all = try await client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: rows.map(\.payload)))
      #expect(all.results.map(\.verdict) == rows.map(\.verdict))
      await client.close()
    }
  }

  @Test func `a notification that must not be believed gets its verdict`() async throws {
    let rows = try HostilePayloads(bench).notificationRows
    try await mistreat { server in
      let client = try await server.client()
      for (name, payload, verdict) in rows {
        let answer = try await client.submitNotification(
          SubmitNotificationRequest(signedPayload: payload, accountID: "attacker"))
        #expect(answer.verdict == verdict, "\(name)")
        #expect(answer.detail != nil && answer.results.isEmpty && answer.customers.isEmpty)
      }
      await client.close()
    }
  }
}
