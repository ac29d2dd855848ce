import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import Synchronization

/// Ends the process if a graceful shutdown takes too long, so that no supervisor has to kill it.
///
/// The timeout starts at the first signal. It runs on Dispatch queues, as a hanging shutdown may
/// block all threads of Swift concurrency.
final class ShutdownWatchdog: Service {
  /// `EX_SOFTWARE` of `sysexits.h`: the shutdown timed out. No acknowledged write is lost.
  static let exitCode: Int32 = 70

  /// The time for the workers, the store, the last answers and the last spans, in addition to the time
  /// for calls in flight. A commit and the store's last checkpoint each wait up to 5 seconds for the lock
  /// of a backup; the flush of the spans takes up to 2 seconds (`TraceExportLimits.flushTime`).
  static let allowance = Duration.seconds(15)

  /// The time to write the last log line, which blocks if the log is not read.
  private static let logTimeout = DispatchTimeInterval.seconds(1)

  private let timeout: Duration
  private let logger: Logger
  private let signalQueue = DispatchQueue(label: "entitled.ShutdownWatchdog.signals")
  private let endQueue = DispatchQueue(label: "entitled.ShutdownWatchdog.end")
  private let isStarted = Atomic(false)

  /// - Parameter shutdownTime: The time for calls in flight.
  init(shutdownTime: Duration, logger: Logger) {
    timeout = shutdownTime + Self.allowance
    self.logger = logger
  }

  /// The last service of the group, which a graceful shutdown reaches first.
  func run() async throws {
    let signals = [SIGTERM, SIGINT].map {
      DispatchSource.makeSignalSource(signal: $0, queue: signalQueue)
    }
    for signal in signals {
      signal.setEventHandler { self.start() }
      signal.resume()
    }
    try? await gracefulShutdown()
    for signal in signals { signal.cancel() }
    // A signal may have arrived before the handlers were installed.
    start()
  }

  private func start() {
    if isStarted.exchange(true, ordering: .relaxed) { return }
    let seconds = Double(timeout.components.seconds)
    signalQueue.asyncAfter(deadline: .now() + seconds) { self.end() }
  }

  private func end() {
    endQueue.asyncAfter(deadline: .now() + Self.logTimeout) { _exit(Self.exitCode) }
    logger.error(
      "the shutdown timed out; ending the process",
      metadata: ["seconds": .stringConvertible(timeout.components.seconds)])
    _exit(Self.exitCode)
  }
}
