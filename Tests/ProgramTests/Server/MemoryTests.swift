import EntitlementDomain
import Foundation
import Framing
import NIOCore
import RPCClient
import StoreSimulator
import TestSupport
import Testing
import Wire

/// Three attacks on the memory of a server at once, on a real process with its default budget.
@Suite("Memory under attack", .timeLimit(.minutes(5)))
struct MemoryTests {
  private static let bound = 512 << 20
  /// How long the attacks go on. They reached 2.4 GB in 13 s.
  private static let duration = Duration.seconds(15)
  /// How many other calls are answered meanwhile, at least.
  private static let calls = 5

  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private var healthCheck: ByteBuffer {
    get throws {
      Frames.request(1, WireMethods.checkHealth, try HealthCheckRequest(service: "").encoded())
    }
  }

  @Test(.enabled(if: EphemeralPostgres.isAvailable))
  func `incomplete requests, unread answers, and repeated items while the database stands still`()
    async throws
  {
    let cluster = try EphemeralPostgres.start()
    let database = try await Bench.migratedDatabase(of: cluster)
    let server = try await RunningServer.start(bench.serverArguments(store: database))
    let idle = try server.residentMemory

    let signed = try #require(try bench.signed(.nonConsumable, seed: 7).flatMap(\.facts).first)
    let submit = WireMethods.submitSignedTransactions
    // All but 50 bytes of 4.1 MB.
    let long = Frames.request(
      1, submit,
      try SubmitSignedTransactionsRequest(
        signedPayloads: [String(repeating: "x", count: 4_100_000)]
      ).encoded())
    let incomplete = try #require(long.getSlice(at: 0, length: long.readableBytes - 50))
    // Each answer is 20 times as long as its request.
    let refused = try SubmitSignedTransactionsRequest(
      signedPayloads: (0..<500).map { "\($0)" }
    ).encoded()
    var unread = ByteBuffer()
    for call in 0..<1_000 {
      unread.writeImmutableBuffer(Frames.request(UInt32(2 * call + 1), submit, refused))
    }
    let repeats = max(1, min(500, 4_000_000 / signed.utf8.count))
    var repeated = ByteBuffer()
    for call in 0..<10 {
      let request = SubmitSignedTransactionsRequest(
        signedPayloads: Array(repeating: signed, count: repeats), accountID: "ACCOUNT")
      repeated.writeImmutableBuffer(
        Frames.request(UInt32(2 * call + 1), submit, try request.encoded()))
    }

    try cluster.pause()
    defer { try? cluster.resume() }
    let floods = [
      try SocketFlood(8, to: server.address, bytes: repeated),
      try SocketFlood(12, to: server.address, bytes: unread),
      try SocketFlood(600, to: server.address, bytes: incomplete),
    ]
    var peak = idle
    var honest = 0
    let end = ContinuousClock.now + Self.duration
    var next = ContinuousClock.now
    // On a slow machine a call takes seconds, as it waits for the requests before it.
    while ContinuousClock.now < end || honest < Self.calls {
      for flood in floods { _ = flood.send(waitingFor: 5) }
      peak = max(peak, try server.residentMemory)
      if ContinuousClock.now >= next {
        next = .now + .seconds(1)
        let client = try RawClient(server.address)
        try client.send(try healthCheck)
        #expect(try client.receiveCode() == "OK")
        honest += 1
      }
    }
    print("memory under attack: idle \(idle >> 20) MiB, peak \(peak >> 20) MiB, \(honest) calls")
    #expect(peak <= Self.bound)
    try await server.logged("the memory for calls is in use")
    withExtendedLifetime(floods) {}
    server.signal(SIGKILL)
    _ = try await server.exit()
  }
}
