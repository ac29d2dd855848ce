package import EntitlementStore
package import Logging
import Synchronization

/// Compresses stored payloads in the background. These are the payloads of former versions of the
/// program; and all payloads, after `entitlectl database train-dictionary --convert`. Several nodes may
/// run it. One of them converts at a time.
package final class PayloadConverter: Sendable {
  /// The payloads of one step.
  package static let stepSize = 200
  /// The pause after a step, in times of the step. So the conversion takes at most a fifth of the time
  /// of one connection, and writers wait for a step at most.
  package static let pauseFactor = 4
  /// The time until the store is asked again when nothing was left, or it failed.
  package static let interval = Duration.seconds(60)
  /// The time before the first step. When nodes are restarted one after the other, those of the former
  /// version could not read what is converted.
  package static let firstPause = Duration.seconds(900)
  /// The time between two entries in the log.
  package static let reportInterval = Duration.seconds(600)

  private let store: any EntitlementStore
  private let timer: ServiceTimer
  private let logger: Logger
  private let converted = Atomic<Int64>(0)

  package init(
    store: any EntitlementStore, timer: ServiceTimer = .system, logger: Logger
  ) {
    self.store = store
    self.timer = timer
    self.logger = logger
  }

  package var values: [StatisticValue] {
    [StatisticValue("payloads.converted", converted.load(ordering: .relaxed))]
  }

  /// A conversion that is under way.
  private struct Progress {
    var payloads: Int64 = 0
    var savedBytes: Int64 = 0
    /// When it was last reported, by the timer.
    var reported: Duration
  }

  /// Converts until the task is cancelled. Call it once.
  package func run() async {
    var progress: Progress?
    var pause = Self.firstPause
    while (try? await timer.sleep(pause)) != nil, !Task.isCancelled {
      pause = await step(&progress)
    }
  }

  /// - Returns: the time until the next step.
  private func step(_ progress: inout Progress?) async -> Duration {
    let began = timer.now()
    let step: PayloadConversionStep
    do throws(StoreError) {
      step = try await store.convertPayloads(limit: Self.stepSize)
    } catch {
      if !Task.isCancelled {
        logger.warning(
          "stored payloads cannot be converted", metadata: ["reason": "\(error)"])
      }
      return Self.interval
    }
    switch step {
    case .converted(let payloads, let savedBytes):
      converted.add(Int64(payloads), ordering: .relaxed)
      var current = progress ?? Progress(reported: began)
      if progress == nil { logger.info("converting stored payloads") }
      current.payloads += Int64(payloads)
      current.savedBytes += savedBytes
      let now = timer.now()
      if now - current.reported >= Self.reportInterval {
        log("converting stored payloads", current)
        current.reported = now
      }
      progress = current
      return (now - began) * Self.pauseFactor
    case .complete, .elsewhere:
      if let progress, step == .complete { log("converted stored payloads", progress) }
      progress = nil
      return Self.interval
    }
  }

  private func log(_ message: Logger.Message, _ progress: Progress) {
    logger.info(
      message,
      metadata: [
        "payloads": .stringConvertible(progress.payloads),
        "saved_bytes": .stringConvertible(progress.savedBytes),
      ])
  }
}
