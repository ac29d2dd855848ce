package import EntitlementDomain
import FoundationEssentials
import Synchronization

/// Verifies batches away from the event loops and from Swift's own threads.
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
    /// How many payloads got each verdict, ``Verdict/ok`` among them.
    package var verdicts: [Verdict: Int]
  }

  private let verifier: JWSVerifier
  private let workers: WorkerPool
  private let verdicts = Mutex<[Verdict: Int]>([:])

  /// - Parameters:
  ///   - width: workers; nil for as many as the process may use processors.
  ///   - capacity: payloads that may wait. A batch larger than this never fits.
  ///   - byteCapacity: bytes of the payloads that wait or are worked on. A batch larger than this
  ///     never fits.
  ///   - now: the clock that deadlines are told by.
  package init(
    verifier: JWSVerifier, width: Int? = nil, capacity: Int = VerificationLimits.queuedItems,
    byteCapacity: Int = VerificationLimits.queuedBytes,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.verifier = verifier
    workers = WorkerPool(
      label: "entitle.verification",
      width: width ?? ProcessInfo.processInfo.activeProcessorCount, capacity: capacity,
      weightCapacity: byteCapacity, itemsPerPiece: VerificationLimits.itemsPerPiece, now: now)
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
    deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(PoolError) -> [Result<VerifiedPayload, Refusal>] {
    let results = try await workers.map(
      batch, deadline: deadline, weight: { $0.jws.count }, isCancelled: isCancelled
    ) { [verifier] item -> Result<VerifiedPayload, Refusal> in
      do throws(Refusal) {
        return .success(
          try verifier.verify(item.jws, as: item.kind, policy: policy, now: now))
      } catch {
        return .failure(error)
      }
    }
    verdicts.withLock { verdicts in
      for result in results {
        switch result {
        case .success: verdicts[.ok, default: 0] += 1
        case .failure(let refusal): verdicts[refusal.verdict, default: 0] += 1
        }
      }
    }
    return results
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
