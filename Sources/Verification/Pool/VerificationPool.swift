import Cryptography
package import EntitlementDomain
import FoundationEssentials
import Locks
package import Workers

/// Verifies payloads and receipts on its own threads, not on event loops or the threads of Swift
/// tasks.
package final class VerificationPool: Sendable {
  /// One payload to verify.
  package struct Item: Hashable, Sendable {
    package var jws: [UInt8]
    /// The expected kind; nil accepts any kind.
    package var kind: SignedKind?

    package init(jws: [UInt8], kind: SignedKind? = nil) {
      self.jws = jws
      self.kind = kind
    }
  }

  package struct Statistics: Hashable, Sendable {
    package var work: WorkerPool.Statistics
    /// Number of payloads and receipts by verdict, including ``Verdict/ok``.
    package var verdicts: [Verdict: Int]
    package var limits: [WorkPriority: WorkerPool.Limits]
  }

  private let verifier: JWSVerifier
  private let receipts: ReceiptVerifier
  private let status: StatusChecker?
  private let workers: WorkerPool
  private let verdicts = LockedValue<[Verdict: Int]>([:])

  /// - Parameters:
  ///   - receipts: nil for one with the anchors of `verifier`.
  ///   - status: checks the certificate status of verified payloads; nil for no check.
  ///   - width: number of workers; nil for the number of available processors.
  ///   - capacity: maximum number of queued interactive payloads, and so of one batch. Imports have
  ///     a separate limit of half of it.
  ///   - byteCapacity: maximum bytes of interactive payloads that are queued or running, and so of
  ///     one batch. Imports have a separate limit of half of it.
  ///   - now: the clock for deadlines.
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
      chunkSize: ChunkSize(
        minimumItems: VerificationLimits.minimumItemsPerChunk,
        maximumItems: VerificationLimits.maximumItemsPerChunk,
        maximumWeight: VerificationLimits.maximumBytesPerChunk),
      turn: Turn(
        items: VerificationLimits.maximumItemsPerChunk, time: VerificationLimits.turnTime),
      now: now)
  }

  /// Verifies all items. Results are in the order of the items. A refusal does not affect other
  /// items.
  ///
  /// - Parameters:
  ///   - now: the validation time of payloads without a signing date.
  ///   - source: the source whose turn the payloads wait for.
  ///   - deadline: payloads that have not started by then are not verified.
  ///   - isCancelled: called before each payload, on any thread. Once it returns true, the rest is
  ///     not verified. It must be fast and keep returning true.
  package func run(
    _ batch: [Item], policy: VerificationPolicy, now: Milliseconds,
    deadline: ContinuousClock.Instant? = nil, priority: WorkPriority = .interactive,
    of source: WorkSource = .server, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(PoolError) -> [Result<VerifiedPayload, Refusal>] {
    let verified = try await workers.map(
      batch, priority: priority, of: source, deadline: deadline, weight: { $0.jws.count },
      isCancelled: isCancelled
    ) { [verifier] item -> Result<VerifiedPayload, Refusal> in
      do throws(Refusal) {
        return .success(
          try verifier.verify(item.jws, as: item.kind, policy: policy, now: now))
      } catch {
        return .failure(error)
      }
    }
    // Not on a worker: this may wait for the network.
    let results = await status?.check(verified, now: now) { $0.chains } ?? verified
    count(results)
    return results
  }

  /// Whether a payload names a signer of which another payload was verified: its certificates need no
  /// validation. Costs the comparison of some kilobytes.
  package func knowsSigner(of payload: String) -> Bool { verifier.knowsSigner(of: payload) }

  /// Verifies one receipt. It counts as one item, whatever its number of purchases.
  ///
  /// - Parameters:
  ///   - receipt: DER, or standard base64 of it.
  ///   - deviceIdentifier: the expected device; nil accepts any device.
  ///   - now: the time for the certificate status check.
  ///   - source: the source whose turn the receipt waits for.
  package func run(
    _ receipt: [UInt8], deviceIdentifier: [UInt8]? = nil, policy: VerificationPolicy,
    now: Milliseconds, deadline: ContinuousClock.Instant? = nil,
    priority: WorkPriority = .interactive, of source: WorkSource = .server,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(PoolError) -> Result<VerifiedReceipt, Refusal> {
    let verified = try await one(
      receipt, priority: priority, of: source, deadline: deadline, isCancelled: isCancelled
    ) { [receipts] receipt throws(Refusal) in
      try receipts.verify(receipt, policy: policy, deviceIdentifier: deviceIdentifier)
    }
    let results = await status?.check([verified], now: now) { $0.chains } ?? [verified]
    count(results)
    return results[0]
  }

  /// Decodes an archived response as bulk work. It has no signature, so no verdict is counted.
  package func read(
    archivedResponse json: [UInt8], beside statement: ArchivedResponse.Statement = .init(),
    deadline: ContinuousClock.Instant? = nil, of source: WorkSource = .server,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(PoolError) -> Result<ArchivedResponse, Refusal> {
    try await one(json, priority: .bulk, of: source, deadline: deadline, isCancelled: isCancelled) {
      json throws(Refusal) in try ArchivedResponse(json, beside: statement)
    }
  }

  private func one<Output: Sendable>(
    _ document: [UInt8], priority: WorkPriority, of source: WorkSource,
    deadline: ContinuousClock.Instant?, isCancelled: @escaping @Sendable () -> Bool,
    _ transform: @escaping @Sendable ([UInt8]) throws(Refusal) -> Output
  ) async throws(PoolError) -> Result<Output, Refusal> {
    let results = try await workers.map(
      [document], priority: priority, of: source, deadline: deadline, weight: { $0.count },
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
    Statistics(
      work: workers.statistics, verdicts: verdicts.withLock { $0 },
      limits: [.interactive: workers.limits(of: .interactive), .bulk: workers.limits(of: .bulk)])
  }

  /// Rejects new batches and returns when all admitted batches have ended.
  ///
  /// - Parameter deadline: payloads that have not started by then are not verified, and their
  ///   batches end with ``PoolError/shutdown``; nil for no limit.
  package func shutdown(deadline: ContinuousClock.Instant? = nil) async {
    await workers.shutdown(deadline: deadline)
  }
}
