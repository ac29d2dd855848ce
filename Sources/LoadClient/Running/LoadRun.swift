import NIOCore
import NIOPosix
import RPCClient
import Synchronization
import Wire

/// One run: connects, makes the calls, counts them second by second.
final class LoadRun: Sendable {
  private let plan: RunPlan
  private let address: ServerAddress
  private let server: ServerProcess?
  private let audience: RunAudience
  private let stopping = Mutex(Stopping())

  private struct Stopping {
    var isStopped = false
    /// Nil: they have not begun.
    var threads: LoadThreads?
  }

  /// Between the connections' opening and the first call: every thread is ready by then.
  private static let lead = TimeAmount.milliseconds(20)

  init(
    _ plan: RunPlan, to address: ServerAddress, server: ServerProcess?,
    audience: RunAudience = RunAudience()
  ) {
    self.plan = plan
    self.address = address
    self.server = server
    self.audience = audience
  }

  /// Ends the run early, with what was measured so far.
  ///
  /// - Returns: false when nothing is under way yet.
  func interrupt() -> Bool {
    stopping.withLock { stopping in
      guard let threads = stopping.threads else { return false }
      stopping.isStopped = true
      threads.interrupt()
      return true
    }
  }

  /// - Throws: ``RPCClientError`` when no connection can be made; ``SimulatorError`` when a payload
  ///   cannot be signed; what the log throws.
  func run() async throws -> LoadResult {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: plan.threads)
    do {
      let threads = try await LoadThreads(plan, to: address, on: group)
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
    let idle = SecondMeter(
      plan: plan, server: server, measureFrom: measureFrom, audience: audience)
    let seconds = Task { try await measureSeconds(of: threads, with: idle) }
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
    // The answers that are compared only now took no longer for it.
    try await threads.drain()
    meter.addLate(try await threads.take().tally)
    return meter.result(isInterrupted: isInterrupted, isServerGone: end.isServerGone)
  }

  /// Measures until the task is cancelled.
  private func measureSeconds(
    of threads: LoadThreads, with idle: SecondMeter
  ) async throws -> SecondMeter {
    var meter = idle
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
      // What nobody can be told need not go on.
      threads.interrupt()
      throw error
    }
  }
}

/// Who is told of a run while it goes on.
struct RunAudience: Sendable {
  /// Each second, for people; nil: nobody.
  var tell: (@Sendable (_ line: String) -> Void)?
  /// Each second, with all that was measured in it.
  var log: IntervalLog?
}
