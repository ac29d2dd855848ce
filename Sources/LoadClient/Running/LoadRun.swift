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
  /// Told each second; nil: nobody.
  private let tell: (@Sendable (_ line: String) -> Void)?
  private let stopping = Mutex(Stopping())

  private struct Stopping {
    var isStopped = false
    var threads: LoadThreads?
  }

  /// Between the connections' opening and the first call: every thread is ready by then.
  private static let lead = TimeAmount.milliseconds(20)

  init(
    _ plan: RunPlan, to address: ServerAddress, server: ServerProcess?,
    tell: (@Sendable (_ line: String) -> Void)?
  ) {
    self.plan = plan
    self.address = address
    self.server = server
    self.tell = tell
  }

  /// Ends the run early, with what was measured so far.
  func interrupt() {
    stopping.withLock { stopping in
      stopping.isStopped = true
      stopping.threads?.interrupt()
    }
  }

  /// - Throws: ``RPCClientError`` when no connection can be made; ``SimulatorError`` when a payload
  ///   cannot be signed.
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
    async let calls: Void = threads.run(times)
    let isStopped = stopping.withLock { stopping in
      stopping.threads = threads
      return stopping.isStopped
    }
    if isStopped { threads.interrupt() }
    let idle = SecondMeter(plan: plan, server: server, measureFrom: measureFrom, tell: tell)
    let seconds = Task {
      var meter = idle
      await meter.waitForBeginning()
      while !Task.isCancelled {
        await meter.waitForNextSecond()
        if Task.isCancelled { break }
        meter.add(try await threads.take())
      }
      return meter
    }
    do {
      try await calls
    } catch {
      seconds.cancel()
      throw error
    }
    seconds.cancel()
    var meter = try await seconds.value
    meter.add(try await threads.take())
    return meter.result(isInterrupted: stopping.withLock { $0.isStopped })
  }
}
