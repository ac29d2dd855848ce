import EntitlementDomain
import Foundation
import Framing
import Glibc
import NIOCore
import RPCClient
import StoreSimulator
import TestSupport
import Testing
import Wire

@Suite("Stop and restart of entitled", .timeLimit(.minutes(5)))
struct StopTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  @Test("A signal stops it cleanly", arguments: [SIGTERM, SIGINT])
  func stop(signal: Int32) async throws {
    let server = try await bench.startServer()
    #expect(try await Bench.control(server, "health").exit == .code(0))
    #expect(try await server.stop(signal) == .code(0))
    // The warning is of the simulator's root, which is trusted for Production.
    #expect(
      try server.log.map(\.message) == ["starting", "configuration", "listening", "stopped"])
    // Check and GetServer.
    #expect(try server.log.last?.calls == 2)
    #expect(server.outputText == "")
  }

  @Test("A signal right after the start is not lost", arguments: 1...5)
  func earlyStop(run: Int) async throws {
    let server = try await bench.startServer()
    #expect(try await server.stop() == .code(0))
  }

  @Test func `calls in flight are answered before it stops`() async throws {
    let server = try await bench.startServer("--shutdown-seconds", "50")
    // Enough payloads that verification takes longer than the delivery of a signal.
    let payloads = try (1...20).flatMap { seed in
      try bench.signed(.renewals, seed: seed).flatMap(\.facts).prefix(20)
    }
    let request = SubmitSignedTransactionsRequest(signedPayloads: payloads, accountID: "account-1")
    let client = try RawClient(server.address)
    let calls: [UInt32] = [1, 3, 5, 7]
    // In one piece: the submissions might be over before a later one is sent.
    var bytes = ByteBuffer()
    for stream in calls {
      bytes.writeImmutableBuffer(
        Frames.request(stream, WireMethods.submitSignedTransactions, try request.encoded()))
    }
    // Answered on the event loop, and so before the submissions, but read after them.
    bytes.writeImmutableBuffer(
      Frames.request(9, WireMethods.checkHealth, try HealthCheckRequest(service: "").encoded()))
    try client.send(bytes)
    var answered: [UInt32] = []
    while answered.last != 9 {
      answered.append(try #require(try client.receive()).header.streamID.rawValue)
    }
    #expect(answered.count <= calls.count, "the submissions were over before the signal")
    server.signal(SIGTERM)
    while let frame = try client.receive() {
      let id = frame.header.streamID.rawValue
      let response = try ResponseEnvelope(decoding: frame.data)
      #expect(response.status == nil, "call \(id)")
      let answer = try SubmitSignedTransactionsResponse.decode(from: response.payload)
      #expect(answer.results.count == payloads.count)
      #expect(answer.results.allSatisfy { $0.verdict == .ok })
      answered.append(id)
    }
    #expect(answered.sorted() == calls + [9])
    #expect(try await server.exit() == .code(0))

    let again = try await bench.startServer()
    let states = try await StateList.read(from: again)
    #expect(states.map { $0["accountId"]?.text } == ["account-1"])
  }

  @Test func `a watch that never ends does not keep it from stopping within its limit`()
    async throws
  {
    let server = try await bench.startServer("--shutdown-seconds", "1")
    let client = try await server.client()
    var watch = try client.watchHealth().makeAsyncIterator()
    #expect(try await watch.next()?.status == .serving)
    // One that takes much longer is ended, with another code.
    #expect(try await server.stop() == .code(0))
    await client.close()
  }

  @Test func `what nobody waits for any more does not keep it from stopping`() async throws {
    let facts = try (1...500).map { seed in
      try #require(try bench.signed(.nonConsumable, seed: seed).first?.transactions.first)
    }
    let request = try SubmitSignedTransactionsRequest(signedPayloads: facts).encoded()
    // Again when the machine was so busy that all were verified before their client was gone.
    for attempt in 1...5 {
      let verified = try await verifications(ofGoneCalls: request)
      if verified < 16 * 500 { break }
      #expect(attempt < 5, "all were verified")
    }
  }

  /// Stops a server right after the client of 16 calls is gone.
  ///
  /// - Returns: the number of payloads that were verified.
  private func verifications(ofGoneCalls request: ByteBuffer) async throws -> Int {
    // With room for all of them: a refused call says nothing.
    let server = try await bench.startServer(
      "--shutdown-seconds", "1", "--verification-workers", "1", "--verification-queue", "100000",
      "--memory-budget-megabytes", "1024")
    let client = try RawClient(server.address)
    var bytes = ByteBuffer()
    for call: UInt32 in 0..<16 {
      bytes.writeImmutableBuffer(
        Frames.request(2 * call + 1, WireMethods.submitSignedTransactions, request))
    }
    // Answered on the event loop, after all earlier bytes are read.
    bytes.writeImmutableBuffer(
      Frames.request(99, WireMethods.checkHealth, try HealthCheckRequest(service: "").encoded()))
    try client.send(bytes)
    while let frame = try client.receive(), frame.header.streamID.rawValue != 99 {
      #expect(try ResponseEnvelope(decoding: frame.data).status == nil)
    }
    client.reset()
    #expect(try await server.stop() == .code(0))
    let counts = try #require(try server.log.last)
    #expect(counts.message == "stopped")
    return try #require(counts.verified)
  }

  @Test func `when it cannot stop in order, it gives up`() async throws {
    // A log pipe without a reader would block its writers.
    let log = bench.folder.file("log")
    #expect(mkfifo(log, 0o600) == 0)
    let reader = open(log, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    #expect(reader >= 0)
    defer { close(reader) }
    let socket = "unix:\(bench.folder.file("e.sock"))"
    let server = try ChildProcess(
      .entitled, bench.serverArguments + ["--listen", socket, "--shutdown-seconds", "1"],
      through: "exec \"$@\" 2>'\(log)'")
    defer { server.signal(SIGKILL) }
    try await Self.serves(socket)
    let refused = try bench.folder.write(
      (0..<500).map { "not.a.jws\($0)\n" }.joined(), to: "refused")
    let clients = try (0..<4).map { _ in
      try ChildProcess(
        .entitlectl, ["submit", refused, "--server", socket, "--timeout", "60"])
    }
    defer { for client in clients { client.signal(SIGKILL) } }
    var waiting: CInt = 0
    let patience = ContinuousClock.now + .seconds(ProcessJournal.patience)
    while waiting < 60_000, ContinuousClock.now < patience {
      try await Self.serves(socket)
      #expect(ioctl(reader, UInt(FIONREAD), &waiting) == 0)
    }
    try #require(waiting >= 60_000)
    server.signal(SIGTERM)
    #expect(try await server.exit() == .code(70))
  }

  @Test func `a log that cannot be written does not stop it`() async throws {
    let socket = "unix:\(bench.folder.file("e.sock"))"
    let server = try ChildProcess(
      .entitled, bench.serverArguments + ["--listen", socket],
      through: "exec \"$@\" 2>/dev/full")
    defer { server.signal(SIGKILL) }
    try await Self.serves(socket)
    // Refusals are logged.
    let run = try await ProgramRun.of(
      .entitlectl, ["submit", "-", "--server", socket], input: "not.a.jws")
    #expect(run.exit == .code(2))
    try await Self.serves(socket)
    server.signal(SIGTERM)
    #expect(try await server.exit() == .code(0))
  }

  /// Waits until a server serves whose log cannot be read.
  private static func serves(_ address: String) async throws {
    let patience = ContinuousClock.now + .seconds(ProcessJournal.patience)
    while ContinuousClock.now < patience {
      let run = try await ProgramRun.of(.entitlectl, ["health", "--server", address])
      if run.output.hasPrefix(Bench.serving) { return }
    }
    throw HarnessFailure("nothing serves on \(address)")
  }

  @Test func `another catalog changes an answer without a new revision`() async throws {
    let first = try await bench.startServer()
    let facts = try bench.signed(.nonConsumable).flatMap(\.facts)
    var client = try await first.client()
    let revision = try #require(
      try await client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: facts, accountID: "account-1")
      ).customers.first?.revision)
    let question = GetCustomerStateRequest(
      customer: .account("account-1"), scope: Bench.scope, ifRevisionDiffers: revision)
    #expect(try await client.customerState(question) == .notModified(revision: revision))
    await client.close()
    #expect(try await first.stop() == .code(0))

    let other = try bench.folder.write(
      SimulatedApp.catalogYAML.replacing("[ad_free]", with: "[basic]"), to: "other.yaml")
    let second = try await bench.startServer("--catalog", other)
    client = try await second.client()
    let answer = try await client.customerState(question)
    await client.close()
    guard case .state(let state) = answer else {
      Issue.record("the state is told as not modified")
      return
    }
    #expect(state.revision == revision)
    #expect(state.entitlements.map(\.entitlementID) == ["basic"])
  }

  @Test("The same database gives the same answers", arguments: [SIGTERM, SIGKILL])
  func restart(signal: Int32) async throws {
    let first = try await bench.startServer()
    try await bench.submit(Bench.population(LifeCycle.allCases.count, seed: 4), to: first)
    let before = try await StateList.read(from: first)
    #expect(before.count == LifeCycle.allCases.count)
    let exit = try await first.stop(signal)
    #expect(exit == (signal == SIGKILL ? .signal(SIGKILL) : .code(0)))
    let second = try await bench.startServer()
    #expect(try await StateList.read(from: second) == before)
  }

  @Test func `the log has one JSON object a line, and holds nothing of a payload`() async throws {
    let server = try await bench.startServer("--log-level", "trace")
    let facts = try bench.signed(.renewals).flatMap(\.facts)
    let jws = try CompactJWS(try #require(facts.first))
    let forged = try CompactJWS(
      try jws.forged(replacing: "\"quantity\":1", with: "\"quantity\":2"))
    let other = try CompactJWS(
      try bench.authority.sign(payloadJSON: Array(#"{"bundleId":"com.example.secret"}"#.utf8)))
    let submission = try await Bench.control(
      server, "submit", "-", "--account", "account-1",
      input: (facts + [forged.text, other.text]).joined(separator: "\n"))
    #expect(submission.exit == .code(2))
    let notification = try #require(try bench.signed(.renewals).first?.notification)
    let altered = notification.dropLast(9) + "AAAAAAAAA"
    _ = try await Bench.control(server, "notification", "submit", "-", input: String(altered))
    #expect(try await server.stop() == .code(0))

    let log = try server.log
    #expect(log.count { $0.message == "refused a signed payload" } == 3)
    #expect(
      log.compactMap(\.verdict).sorted() == ["INVALID_SIGNATURE", "INVALID_SIGNATURE", "MALFORMED"])
    for line in log {
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      let time = try style.parse(line.time)
      #expect(abs(time.timeIntervalSinceNow) < 600)
      #expect(["trace", "debug", "info", "notice", "warning", "error"].contains(line.level))
    }
    for part in [jws, forged, other] {
      for secret in [part.header, part.payload, part.signature] {
        #expect(!server.logText.contains(secret.prefix(40)))
        #expect(!server.logText.contains(secret.suffix(40)))
      }
    }
    for secret in ["com.example.secret", "signedDate", "eyJ", "\"quantity"] {
      #expect(!server.logText.contains(secret))
    }
  }

  @Test func `a log for people goes to stderr, too`() async throws {
    let arguments = bench.serverArguments.map { $0 == "json" ? "text" : $0 }
    let child = try ChildProcess(.entitled, arguments)
    _ = try await child.journal.first("listening server") { contents in
      contents.errorLines.first { $0.contains(" info ") && $0.contains("listening") }
    }
    child.signal(SIGTERM)
    #expect(try await child.exit() == .code(0))
    #expect(child.journal.contents.outputText == "")
  }
}
