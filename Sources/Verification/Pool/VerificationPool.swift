import Cryptography
package import EntitlementDomain
import FoundationEssentials

/// Verifies batches and receipts away from the event loops and from Swift's own threads.
package final class VerificationPool: Sendable {
  /// One payload to verify.
  package struct Item: Hashable, Sendable {
    package var jws: [UInt8]
    /// What it must be; nil accepts any kind.
    package var kind: SignedKind?

    package init(jws: [UInt8], kind: SignedKind? = nil) {
      self.jws = jws
      self.kind = kind
    }
  }

  package struct Statistics: Hashable, Sendable {
    package var work: WorkerPool.Statistics
    /// How many payloads, receipts among them, got each verdict, ``Verdict/ok`` too.
    package var verdicts: [Verdict: Int]
  }

  private let verifier: JWSVerifier
  private let receipts: ReceiptVerifier
  private let status: StatusChecker?
  private let workers: WorkerPool
  private let verdicts = Guarded<[Verdict: Int]>([:])

  /// - Parameters:
  ///   - receipts: nil for one with the anchors of `verifier`.
  ///   - status: asked about the certificates of payloads that verified; nil asks nobody.
  ///   - width: workers; nil for as many as the process may use processors.
  ///   - capacity: interactive payloads that may wait; a batch larger than this never fits. Imports
  ///     have half as much room of their own.
  ///   - byteCapacity: bytes of the interactive payloads that wait or are worked on; a batch larger
  ///     than this never fits. Imports have half as much room of their own.
  ///   - now: the clock that deadlines are told by.
  package init(
    verifier: JWSVerifier, receipts: ReceiptVerifier? = nil, status: StatusChecker? = nil,
    width: Int? = nil, capacity: Int = VerificationLimits.queuedItems,
    byteCapacity: Int = VerificationLimits.queuedBytes,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.verifier = verifier
    self.receipts = receipts ?? ReceiptVerifier(anchors: verifier.anchors)
    self.status = status
    workers = WorkerPool(
      label: "entitle.verification",
      width: width ?? ProcessInfo.processInfo.activeProcessorCount, capacity: capacity,
      weightCapacity: byteCapacity,
      pieceSize: PieceSize(
        leastItems: VerificationLimits.leastItemsPerPiece,
        mostItems: VerificationLimits.mostItemsPerPiece,
        mostWeight: VerificationLimits.mostBytesPerPiece),
      now: now)
  }

  /// Verifies all items; results keep their order. One refusal does not touch the others.
  ///
  /// - Parameters:
  ///   - now: the moment judged for payloads that do not say when they were signed.
  ///   - deadline: payloads whose turn has not come by then are not verified.
  ///   - isCancelled: asked before each payload, on any thread. Once it is true, the rest is not
  ///     verified. It must be quick, and stay true.
  package func run(
    _ batch: [Item], policy: VerificationPolicy, now: Milliseconds,
    deadline: ContinuousClock.Instant? = nil, priority: WorkPriority = .interactive,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(PoolError) -> [Result<VerifiedPayload, Refusal>] {
    let verified = try await workers.map(
      batch, priority: priority, deadline: deadline, weight: { $0.jws.count },
      isCancelled: isCancelled
    ) { [verifier] item -> Result<VerifiedPayload, Refusal> in
      do throws(Refusal) {
        return .success(
          try verifier.verify(item.jws, as: item.kind, policy: policy, now: now))
      } catch {
        return .failure(error)
      }
    }
    // On no worker any more: this may wait for the network.
    let results = await status?.judge(verified, now: now) { $0.chains } ?? verified
    count(results)
    return results
  }

  /// Verifies one receipt, which is one item of work however many purchases it holds.
  ///
  /// - Parameters:
  ///   - receipt: DER, or standard base64 of it.
  ///   - deviceIdentifier: the device that it must have been made for; nil for any.
  ///   - now: the moment that the status of its certificates is judged at, where it is asked for.
  package func run(
    _ receipt: [UInt8], deviceIdentifier: [UInt8]? = nil, policy: VerificationPolicy,
    now: Milliseconds, deadline: ContinuousClock.Instant? = nil,
    priority: WorkPriority = .interactive,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(PoolError) -> Result<VerifiedReceipt, Refusal> {
    let verified = try await one(
      receipt, priority: priority, deadline: deadline, isCancelled: isCancelled
    ) { [receipts] receipt throws(Refusal) in
      try receipts.verify(receipt, policy: policy, deviceIdentifier: deviceIdentifier)
    }
    let results = await status?.judge([verified], now: now) { $0.chains } ?? [verified]
    count(results)
    return results[0]
  }

  /// Reads an archived response as bulk work. Nobody signed it, so there is no verdict to count.
  package func read(
    archivedResponse json: [UInt8], deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(PoolError) -> Result<ArchivedResponse, Refusal> {
    try await one(json, priority: .bulk, deadline: deadline, isCancelled: isCancelled) {
      json throws(Refusal) in try ArchivedResponse(json)
    }
  }

  private func one<Output: Sendable>(
    _ document: [UInt8], priority: WorkPriority, deadline: ContinuousClock.Instant?,
    isCancelled: @escaping @Sendable () -> Bool,
    _ transform: @escaping @Sendable ([UInt8]) throws(Refusal) -> Output
  ) async throws(PoolError) -> Result<Output, Refusal> {
    let results = try await workers.map(
      [document], priority: priority, deadline: deadline, weight: { $0.count },
      isCancelled: isCancelled
    ) { document -> Result<Output, Refusal> in
      do throws(Refusal) {
        return .success(try transform(document))
      } catch {
        return .failure(error)
      }
    }
    // One item has one result.
    return results[0]
  }

  private func count<Payload>(_ results: [Result<Payload, Refusal>]) {
    verdicts.withLock { verdicts in
      for result in results {
        switch result {
        case .success: verdicts[.ok, default: 0] += 1
        case .failure(let refusal): verdicts[refusal.verdict, default: 0] += 1
        }
      }
    }
  }

  package var statistics: Statistics {
    Statistics(work: workers.statistics, verdicts: verdicts.withLock { $0 })
  }

  /// Turns away new batches, and returns when those that were admitted have ended.
  ///
  /// - Parameter deadline: payloads whose turn has not come by then are not verified, and their
  ///   batches end with ``PoolError/shutdown``; nil to verify all that was admitted.
  package func shutdown(deadline: ContinuousClock.Instant? = nil) async {
    await workers.shutdown(deadline: deadline)
  }
}
