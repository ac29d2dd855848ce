import Framing
import RPCClient
import TestSupport
import Wire

/// A client that uses one of the servers. It changes the server when a call fails, and sometimes
/// without a reason.
actor ClientLane {
  private let servers: [EntitledNode]
  private let counters: LoadCounters
  private let findings: Findings
  private var random: SeededRandom
  private var client: EntitlementClient?
  private var callsLeft = 0

  /// Longer than the timeout of a server for its database.
  private static let callTimeout = Duration.seconds(20)
  private static let callsToOneServer = 50
  private static let pauseAfterFailure = Duration.milliseconds(100)

  init(_ load: LoadContext, random: SeededRandom) {
    servers = load.servers
    counters = load.counters
    findings = load.findings
    self.random = random
  }

  /// Makes one call.
  ///
  /// - Parameter expected: statuses that count as answers.
  /// - Returns: nil when the call failed in a way that faults may cause.
  func call<Answer: Sendable>(
    _ what: String, or expected: Set<RPCCode> = [],
    _ body: @Sendable (EntitlementClient) async throws(RPCClientError) -> Answer
  ) async -> Answer? {
    do throws(RPCClientError) {
      return try await body(try await connected())
    } catch {
      switch error.code {
      case .status(let code) where expected.contains(code):
        break
      case .unreachable, .connectionClosed, .status(.unavailable), .status(.deadlineExceeded),
        .status(.resourceExhausted), .status(.cancelled):
        counters.add(.passingFailures)
        await drop()
        try? await Task.sleep(for: Self.pauseAfterFailure)
      case .clientClosed, .status:
        findings.add(.unexpectedStatus, "\(what): \(error)")
        await drop()
      }
      return nil
    }
  }

  func drop() async {
    let dropped = client
    client = nil
    await dropped?.close()
  }

  private func connected() async throws(RPCClientError) -> EntitlementClient {
    if let client, callsLeft > 0 {
      callsLeft -= 1
      return client
    }
    await drop()
    let server = servers[Int.random(in: servers.indices, using: &random)]
    let connected = try await EntitlementClient.connect(
      to: server.address, configuration: .impatient(timeout: Self.callTimeout))
    client = connected
    callsLeft = Int.random(in: 1...Self.callsToOneServer, using: &random)
    return connected
  }
}
