import Framing
import NIOCore
import NIOPosix
import RPCClient
import Synchronization
import Wire

/// One run: connects, makes the calls, and counts them each second.
final class LoadRun: Sendable {
  private let plan: RunPlan
  private let target: RPCTarget
  private let server: ServerProcess?
  private let observer: RunObserver
  private let stopping = Mutex(Stopping())

  private struct Stopping {
    var isStopped = false
    /// Nil until the calls begin.
    var threads: LoadThreads?
  }

  /// Time between opening the connections and the first call, in which every thread gets ready.
  private static let lead = TimeAmount.milliseconds(20)

  init(
    _ plan: RunPlan, to target: RPCTarget, server: ServerProcess?,
    observer: RunObserver = RunObserver()
  ) {
    self.plan = plan
    self.target = target
    self.server = server
    self.observer = observer
  }

  /// Ends the run early, with the results so far.
  ///
  /// - Returns: false when no calls have begun yet.
  func interrupt() -> Bool {
    stopping.withLock { stopping in
      guard let threads = stopping.threads else { return false }
      stopping.isStopped = true
      threads.interrupt()
      return true
    }
  }

  /// - Throws: ``RPCClientError`` when no connection can be opened; ``SimulatorError`` when a
  ///   payload cannot be signed; errors of the log.
  func run() async throws -> LoadResult {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: plan.threads)
    do {
      let threads = try await LoadThreads(plan, to: target, on: group)
      let result: LoadResult
      do {
        result = try await measure(threads)
      } catch {
        await threads.close()
        throw error
      }
      await threads.close()
      try? await group.shutdownGracefully()
      return result
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  private func measure(_ threads: LoadThreads) async throws -> LoadResult {
    let start = NIODeadline.now() + Self.lead
    let measureFrom = start + TimeAmount(plan.warmUp)
    let times = RunTimes(
      start: start, measureFrom: measureFrom,
      until: plan.duration.map { measureFrom + TimeAmount($0) })
    stopping.withLock { $0.threads = threads }
    async let calls = threads.run(times)
    let newMeter = SecondMeter(
      plan: plan, server: server, measureFrom: measureFrom, observer: observer)
    let seconds = Task { try await measureSeconds(of: threads, with: newMeter) }
    let end: LoadEnd
    do {
      end = try await calls
    } catch {
      seconds.cancel()
      throw error
    }
    let isInterrupted = stopping.withLock { $0.isStopped }
    seconds.cancel()
    var meter = try await seconds.value
    try meter.finish(try await threads.take().tally, at: end.moment)
    // The measurement has ended: the remaining comparisons do not lengthen it.
    try await threads.drain()
    meter.addLate(try await threads.take().tally)
    return meter.result(isInterrupted: isInterrupted, isServerGone: end.isServerGone)
  }

  /// Measures until the task is cancelled.
  private func measureSeconds(
    of threads: LoadThreads, with newMeter: SecondMeter
  ) async throws -> SecondMeter {
    var meter = newMeter
    do {
      try await meter.waitForBeginning()
      while !Task.isCancelled {
        await meter.waitForNextSecond()
        if Task.isCancelled { break }
        let now = NIODeadline.now()
        let (tally, inFlight) = try await threads.take()
        try meter.add(tally, inFlight: inFlight, at: now)
      }
      return meter
    } catch {
      // The run ends when its log cannot be written.
      threads.interrupt()
      throw error
    }
  }
}

/// Outputs during a run.
struct RunObserver: Sendable {
  /// Writes a line of progress each second, for people; nil: no progress output.
  var writeProgress: (@Sendable (_ line: String) -> Void)?
  /// Gets the latencies of each second; nil: no log.
  var log: IntervalLog?
}
