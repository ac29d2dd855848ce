import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("Verification in batches")
struct VerificationPoolTests {
  let workshop = Workshop.shared

  @Test func `each payload gets its own verdict, in the order of the batch`() async throws {
    let pool = VerificationPool(verifier: workshop.verifier, width: 2)
    let good = try workshop.sign(.transaction())
    let renewalInfo = try workshop.sign(.renewalInfo())
    let forged = try Workshop.twin.sign(.transaction())
    let batch = (0..<40).map { index in
      switch index % 4 {
      case 0: VerificationPool.Item(jws: good)
      case 1: VerificationPool.Item(jws: [UInt8(index)])
      case 2: VerificationPool.Item(jws: forged, kind: .transaction)
      default: VerificationPool.Item(jws: renewalInfo, kind: .transaction)
      }
    }
    let results = try await pool.run(batch, policy: .scribe, now: Workshop.signedDate)
    let verdicts = results.map { result -> Verdict in
      switch result {
      case .success: .ok
      case .failure(let refusal): refusal.verdict
      }
    }
    let expected: [Verdict] = [.ok, .malformed, .untrustedChain, .malformed]
    #expect(verdicts == (0..<40).map { expected[$0 % 4] })
    #expect(
      pool.statistics.verdicts == [.ok: 10, .malformed: 20, .untrustedChain: 10])
    await pool.shutdown()
    #expect(pool.statistics.work.done == 40)
  }

  @Test func `payloads are admitted by their bytes too`() async throws {
    let jws = try workshop.sign(.transaction())
    let pool = VerificationPool(verifier: workshop.verifier, byteCapacity: 2 * jws.count)
    func run(_ count: Int) async throws -> Int {
      try await pool.run(
        Array(repeating: VerificationPool.Item(jws: jws), count: count), policy: .scribe,
        now: Workshop.signedDate
      ).count
    }
    await #expect(throws: PoolError.full) { try await run(3) }
    // Twice: the room comes back.
    for _ in 0..<2 {
      #expect(try await run(2) == 2)
      while pool.statistics.work.weight > 0 { await Task.yield() }
    }
    #expect(pool.statistics.work.turnedAway == 3)
    await pool.shutdown()
  }

  @Test func `a cancelled batch ends, and nothing of it is verified`() async throws {
    let pool = VerificationPool(verifier: workshop.verifier)
    let batch = [VerificationPool.Item(jws: try workshop.sign(.transaction()))]
    await #expect(throws: PoolError.cancelled) {
      try await pool.run(batch, policy: .scribe, now: 0, isCancelled: { true })
    }
    await pool.shutdown()
    #expect(pool.statistics.work.givenUp == 1)
    #expect(pool.statistics.verdicts.isEmpty)
  }

  @Test func `an expired deadline and a stopped pool have different errors`() async throws {
    let pool = VerificationPool(verifier: workshop.verifier)
    let batch = [VerificationPool.Item(jws: try workshop.sign(.transaction()))]
    await #expect(throws: PoolError.deadlineExceeded) {
      try await pool.run(batch, policy: .scribe, now: 0, deadline: .now)
    }
    await pool.shutdown()
    await #expect(throws: PoolError.shutdown) {
      try await pool.run(batch, policy: .scribe, now: 0)
    }
    #expect(pool.statistics.verdicts.isEmpty)
  }

  @Test func `receipts run on the same workers, each one item of work`() async throws {
    let authority = try ReceiptAuthority.generate()
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    let pool = VerificationPool(verifier: JWSVerifier(anchors: anchors), width: 1)
    let policy = VerificationPolicy(apps: [
      .init(bundleID: SimulatedApp.bundleID, appAppleID: 1, environments: [.production])
    ])
    let receipt = SimulatedReceipt.ofLongHistory(
      itemCount: 40, creationDate: Workshop.signedDate)
    let signed = try authority.sign(receipt)
    for priority in WorkPriority.allCases {
      let result = try await pool.run(
        signed, policy: policy, now: Workshop.signedDate, priority: priority)
      #expect(try result.get().receipt.items.count == 40)
    }
    let otherDevice = try await pool.run(
      signed, deviceIdentifier: [1, 2, 3], policy: policy, now: Workshop.signedDate)
    #expect(throws: Refusal.self) { try otherDevice.get() }
    let noReceipt = try await pool.run([1, 2, 3], policy: policy, now: Workshop.signedDate)
    #expect(throws: Refusal.self) { try noReceipt.get() }
    let archive = try await pool.read(archivedResponse: receipt.archivedResponse())
    #expect(try archive.get().receipt.items.count == 40)
    await #expect(throws: PoolError.cancelled) {
      try await pool.run(
        signed, policy: policy, now: Workshop.signedDate, isCancelled: { true })
    }
    await #expect(throws: PoolError.deadlineExceeded) {
      try await pool.read(archivedResponse: [], deadline: .now)
    }
    await pool.shutdown()
    let statistics = pool.statistics
    // The archived response has no signature, so it got no verdict.
    #expect(statistics.verdicts == [.ok: 2, .wrongDevice: 1, .malformed: 1])
    #expect(statistics.work.interactive.done == 3)
    #expect(statistics.work.interactive.givenUp == 1)
    #expect(statistics.work.bulk.done == 2)
    #expect(statistics.work.bulk.givenUp == 1)
    #expect(statistics.work.weight == 0)
  }
}
