import Cryptography
import Dispatch
import EntitlementDomain
import StoreSimulator
import Locks
import TestSupport
import Testing
import Workers

@testable import Verification

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

  /// The number of other payloads that a worker begins before that of an honest sender, when two
  /// senders of unknown signers were there before. Each unknown signer costs a chain check.
  ///
  /// - Parameter sources: those of the two senders and of the honest one.
  private func wait(_ sources: [WorkSource]) async throws -> Int {
    let pool = VerificationPool(verifier: workshop.verifier, width: 1)
    let payloads = 100
    // Public certificates under a header of one's own: the chain is valid, the signature is not.
    let unknown = try (0..<payloads).map { index in
      VerificationPool.Item(
        jws: try workshop.sign(
          header: {
            var header = Header(x5c: workshop.chain)
            header.more = ",\"n\":\(index)"
            return header
          }(), key: Workshop.twin.authority.leaf.key))
    }
    let honest = VerificationPool.Item(jws: try workshop.sign(.transaction()))
    @Sendable func run(
      _ items: [VerificationPool.Item], _ source: WorkSource,
      _ begins: @escaping @Sendable () -> Void
    ) async throws -> [Result<VerifiedPayload, Refusal>] {
      try await pool.run(
        items, policy: .scribe, now: Workshop.signedDate, of: source,
        isCancelled: {
          begins()
          return false
        })
    }
    // Called on the only worker before its first payload, which then waits until all are queued.
    let gate = DispatchSemaphore(value: 0)
    async let first = run([honest], .server) { gate.wait() }
    while pool.statistics.work.running == 0 { await Task.yield() }
    let begun = LockedValue(0)
    let position = LockedValue(0)
    let floods = sources.prefix(2).map { source in
      Task { try await run(unknown, source) { begun.withLock { $0 += 1 } } }
    }
    while pool.statistics.work.queued < 2 * payloads { await Task.yield() }
    async let last = run([honest], sources[2]) {
      position.withLock { $0 = begun.withLock { $0 } }
    }
    while pool.statistics.work.queued < 2 * payloads + 1 { await Task.yield() }
    gate.signal()
    #expect(try await (first + last).allSatisfy { (try? $0.get()) != nil })
    for flood in floods {
      let verdicts = try await flood.value.map { result -> Verdict in
        switch result {
        case .success: .ok
        case .failure(let refusal): refusal.verdict
        }
      }
      #expect(verdicts == Array(repeating: .invalidSignature, count: payloads))
    }
    await pool.shutdown()
    return position.withLock { $0 }
  }

  @Test func `two senders of unknown signers delay a third by one turn each`() async throws {
    let turn = VerificationLimits.maximumItemsPerChunk
    let position = try await wait([.connection(1), .connection(2), .connection(3)])
    #expect(position <= 2 * turn)
    // As one source, all of it is first come, first served.
    #expect(try await wait([.connection(1), .connection(1), .connection(1)]) == 200)
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
