import EntitlementDomain
import RPCClient
import StoreSimulator
import TestSupport
import Testing
import Wire

/// A real server with its default settings, and a PostgreSQL whose processes are stopped: it neither
/// answers nor closes connections.
@Suite("A database that stands still", .enabled(if: EphemeralPostgres.isAvailable))
struct StandstillTests {
  @Test(
    "Health turns to NOT_SERVING, and a write is answered by its deadline",
    .timeLimit(.minutes(5)))
  func standstill() async throws {
    let bench = try Bench()
    let cluster = try EphemeralPostgres.start()
    let database = try await Bench.migratedDatabase(of: cluster)
    let server = try await RunningServer.start(bench.serverArguments(store: database))
    let payload = try #require(try bench.signed(.nonConsumable, seed: 7).flatMap(\.facts).first)
    let client = try await server.client()
    // No second attempt: the answer is that of one call.
    let hasty = try await EntitlementClient.connect(
      to: server.address,
      configuration: EntitlementClientConfiguration(timeout: .seconds(3), retries: .off))
    let submission = SubmitSignedTransactionsRequest(
      signedPayloads: [payload], accountID: "ACCOUNT")
    _ = try await client.submitSignedTransactions(submission)

    try cluster.pause()
    defer { try? cluster.resume() }
    let start = ContinuousClock.now
    async let write = Self.answerTime {
      _ = try await hasty.submitSignedTransactions(submission)
    }
    try await eventually { try await client.health().status == .notServing }
    let time = start.duration(to: .now)
    let answered = await write
    print("NOT_SERVING after \(time); the write was answered after \(answered)")
    // By its constants health takes 4.1 s at most, with a margin for a busy machine. Otherwise it would
    // take until the database goes on.
    #expect(time < .seconds(30))
    #expect(answered < .seconds(30))

    try cluster.resume()
    try await eventually { try await client.health().status == .serving }
    _ = try await client.submitSignedTransactions(submission)
    await client.close()
    await hasty.close()
    #expect(try await server.stop() == .code(0))
  }

  /// How long a call takes that must fail.
  private static func answerTime(_ call: () async throws -> Void) async -> Duration {
    let start = ContinuousClock.now
    await #expect(throws: RPCClientError.self) { try await call() }
    return start.duration(to: .now)
  }
}
