import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import Synchronization

/// Ends the process when stopping in order takes too long: a supervisor must not have to kill it.
///
/// It counts from the first signal, on threads of its own: what keeps the server from stopping may
/// hold all of Swift's.
final class StopLimit: Service {
  /// `EX_SOFTWARE` of `sysexits.h`: the process gave up stopping in order. Nothing that was answered
  /// is lost.
  static let exitCode: Int32 = 70

  /// What workers, store and the last answers may take beyond the time for calls in flight. A
  /// commit, and the store's last checkpoint, each wait 5 seconds at most for a lock that a backup
  /// holds.
  static let allowance = Duration.seconds(12)

  /// How long the last line of the log may take: nobody may be reading it.
  private static let lastWords = DispatchTimeInterval.seconds(1)

  private let limit: Duration
  private let logger: Logger
  private let signalQueue = DispatchQueue(label: "entitled.StopLimit.signals")
  private let endQueue = DispatchQueue(label: "entitled.StopLimit.end")
  private let isCounting = Atomic(false)

  /// - Parameter shutdownTime: what calls in flight have.
  init(shutdownTime: Duration, logger: Logger) {
    limit = shutdownTime + Self.allowance
    self.logger = logger
  }

  /// Listed last among the services, it is the first that the shutdown reaches.
  func run() async throws {
    let signals = [SIGTERM, SIGINT].map {
      DispatchSource.makeSignalSource(signal: $0, queue: signalQueue)
    }
    for signal in signals {
      signal.setEventHandler { self.count() }
      signal.resume()
    }
    try? await gracefulShutdown()
    for signal in signals { signal.cancel() }
    // A signal may have come before this was there to see it.
    count()
  }

  private func count() {
    if isCounting.exchange(true, ordering: .relaxed) { return }
    let seconds = Double(limit.components.seconds)
    signalQueue.asyncAfter(deadline: .now() + seconds) { self.end() }
  }

  private func end() {
    endQueue.asyncAfter(deadline: .now() + Self.lastWords) { _exit(Self.exitCode) }
    logger.error(
      "stopping took too long; given up",
      metadata: ["seconds": "\(limit.components.seconds)"])
    _exit(Self.exitCode)
  }
}
