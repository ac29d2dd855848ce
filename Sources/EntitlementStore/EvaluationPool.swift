import Dispatch
import FoundationEssentials
import Synchronization
package import Workers

/// Computes what takes long for a large customer: decodes its rows, evaluates, explains and encodes
/// its state. Small computations run where the caller runs. Large ones run on threads of the pool,
/// never on an event loop or the threads of Swift tasks, where they would delay all other calls.
///
/// Sources take turns of one computation each. A source that has much in the queue is refused
/// before the others (``WorkerPool``).
package final class EvaluationPool: Sendable {
  /// The most facts of a computation that runs on the caller's thread: about a millisecond. Nearly
  /// all customers have fewer.
  package static let factsInPlace = 512

  /// The number of its threads.
  package let width: Int
  private let workers: WorkerPool
  package let limits: EvaluationLimits

  /// Half of the processors, so that the other half serves the calls of other customers.
  package static let defaultWidth = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)

  package init(width: Int = defaultWidth, limits: EvaluationLimits = EvaluationLimits()) {
    self.width = width
    self.limits = limits
    workers = WorkerPool(
      label: "entitle.evaluation",
      width: width, capacity: limits.computations, weightCapacity: limits.facts,
      // A thread that computes for long must not delay threads that serve calls within a
      // millisecond, when there are fewer processors than threads that have work.
      quality: .background)
  }

  package var statistics: WorkerPool.Work { workers.statistics.interactive }

  /// Computes here, or on the pool if there are many facts.
  ///
  /// - Parameters:
  ///   - facts: facts, versions, grants and customers that the computation visits.
  ///   - weight: the facts that count against ``EvaluationLimits/facts``; nil: all.
  ///   - source: the source whose turn a large computation waits for.
  ///   - isCancelled: called on any thread. Once it returns true, the computation is of no use. The
  ///     cancellation of the task has the same effect.
  ///   - body: returns nil if it has stopped because its parameter returned true.
  /// - Throws: ``PoolError/cancelled``, and ``PoolError/full`` when too much is queued.
  package func run<Value: Sendable>(
    facts: Int, weight: Int? = nil, of source: WorkSource,
    isCancelled: @escaping @Sendable () -> Bool = { false },
    _ body: @escaping @Sendable (_ isCancelled: @escaping () -> Bool) -> Value?
  ) async throws(PoolError) -> Value {
    if facts <= Self.factsInPlace {
      guard let value = body({ false }) else { throw .cancelled }
      return value
    }
    let isTaskCancelled = CancellationFlag()
    let isOver: @Sendable () -> Bool = { isTaskCancelled.isSet || isCancelled() }
    // Larger than the limit, a computation is admitted when nothing else is queued.
    let weight = min(weight ?? facts, limits.facts)
    let result = await withTaskCancellationHandler {
      () async -> Result<[Value?], PoolError> in
      do throws(PoolError) {
        return .success(
          try await workers.map([()], of: source, weight: { _ in weight }, isCancelled: isOver) {
            _ in body(isOver)
          })
      } catch {
        return .failure(error)
      }
    } onCancel: {
      isTaskCancelled.set()
    }
    guard let value = try result.get()[0] else { throw .cancelled }
    return value
  }
}

/// Limits of large computations.
package struct EvaluationLimits: Hashable, Sendable {
  /// Computations that are queued.
  package var computations = 256
  /// Facts of the computations that are queued or running, which are in memory meanwhile: at most
  /// about 128 MiB, or the one largest customer. One source may have half of it, which is six
  /// customers of 10,000 subscriptions with two facts each.
  package var facts = 262_144

  package init() {}
}

/// Whether a task was cancelled, for threads without the task.
private final class CancellationFlag: Sendable {
  private let flag = Atomic(false)

  var isSet: Bool { flag.load(ordering: .relaxed) }

  func set() { flag.store(true, ordering: .relaxed) }
}
