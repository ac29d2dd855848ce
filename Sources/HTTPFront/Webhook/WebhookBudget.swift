import Framing
import Logging
import NIOCore
import RPCServer
import Synchronization

/// The rates of a listener that everyone may reach, over all its connections: behind a proxy, all
/// requests come from one address.
package struct WebhookLimits: Hashable, Sendable {
  /// Bytes of bodies a second: a thousand notifications of common size.
  package var bytesPerSecond: Int

  /// Notifications a second whose verification fails, or that are of another app or environment. One costs
  /// up to a millisecond of a core, and the App Store sends none.
  package var failuresPerSecond: Int

  /// When the App Store, which repeats for days, or a test may try again.
  static let retryDelay = Duration.seconds(60)

  /// What a failed verification costs its connection, of ``HTTPFrontLimits/refusedRequests``.
  static let failurePenalty = 2

  package init(bytesPerSecond: Int = 33_554_432, failuresPerSecond: Int = 200) {
    self.bytesPerSecond = bytesPerSecond
    self.failuresPerSecond = failuresPerSecond
  }
}

/// What is left of ``WebhookLimits``.
final class WebhookBudget: Sendable {
  private struct State {
    var bytes: TokenBucket
    var failures: TokenBucket
  }

  private let state: Mutex<State>
  private let log = ShortageLog()
  private let logger: Logger

  init(_ limits: WebhookLimits, logger: Logger) {
    self.logger = logger
    state = Mutex(
      State(
        bytes: TokenBucket(tokensPerSecond: limits.bytesPerSecond),
        failures: TokenBucket(tokensPerSecond: limits.failuresPerSecond)))
  }

  /// Whether another notification may be verified now.
  func admits(now: NIODeadline) -> Bool {
    let rate: String? = state.withLock { state in
      if state.failures.nextToken(now: now) != nil { return "failed verifications" }
      return state.bytes.nextToken(now: now) == nil ? nil : "bytes"
    }
    guard let rate else { return true }
    if log.isDue(now: now) {
      logger.warning(
        "notifications of the App Store are put off: the rate of the listener is reached",
        metadata: ["rate": "\(rate)"])
    }
    return false
  }

  func received(bytes count: Int, now: NIODeadline) {
    state.withLock { _ = $0.bytes.take(count, now: now) }
  }

  func verificationFailed(now: NIODeadline) {
    state.withLock { _ = $0.failures.take(now: now) }
  }
}
