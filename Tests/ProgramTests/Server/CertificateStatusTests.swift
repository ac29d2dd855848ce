import EntitlementDomain
import RPCClient
import StoreSimulator
import Testing
import Wire

/// The setting with certificates that have no OCSP responder, like the simulator's. Calls to
/// responders are tested in CertificateStatusTests.
@Suite("The setting certificate_status", .timeLimit(.minutes(5)))
struct CertificateStatusSettingTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private struct Outcome {
    let verdict: SubmissionVerdict
    /// The counters of the same submission, without their common prefix.
    let figures: [String: Int64]
    let warnings: Int
  }

  /// Submits one purchase to a server with these arguments.
  private func submit(_ arguments: [String]) async throws -> Outcome {
    let server = try await RunningServer.start(bench.serverArguments + arguments)
    let client = try await server.client()
    let facts = try bench.signed(.nonConsumable, seed: 77).flatMap(\.facts)
    let results = try await client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(signedPayloads: [facts[0]], accountID: "ACCOUNT")
    ).results
    let statistics = try await client.statistics()
    await client.close()
    let beginning = "certificate_status."
    let figures = statistics.counters.filter { $0.name.hasPrefix(beginning) }
      .map { (String($0.name.dropFirst(beginning.count)), $0.value) }
    #expect(try await server.stop() == .code(0))
    return Outcome(
      verdict: try #require(results.first).verdict,
      figures: Dictionary(uniqueKeysWithValues: figures),
      warnings: try server.log.count {
        $0.level == "warning" && $0.message == "the status of a certificate is not known"
      })
  }

  @Test func `without it nobody is asked`() async throws {
    for arguments in [[], ["--certificate-status", "off"]] {
      let outcome = try await submit(arguments)
      #expect(outcome.verdict == .ok)
      #expect(outcome.figures.count == 15)
      #expect(outcome.figures.values.allSatisfy { $0 == 0 })
      #expect(outcome.warnings == 0)
    }
  }

  @Test func `soft accepts and says so, strict wants it tried again`() async throws {
    // The strict server first: the facts that it refuses are new to the other one.
    for (policy, verdict) in [("strict", SubmissionVerdict.retryable), ("soft", .ok)] {
      let outcome = try await submit(["--certificate-status", policy])
      #expect(outcome.verdict == verdict)
      // The leaf and the intermediate.
      #expect(outcome.figures["without_responder"] == 2)
      #expect(outcome.figures["undecided"] == 1)
      #expect(outcome.figures["asked"] == 0)
      #expect(outcome.warnings == 2)
    }
  }
}
