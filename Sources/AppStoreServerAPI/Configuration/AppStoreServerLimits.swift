package import EntitlementDomain
import Foundation
package import NIOCore

/// Limits of the client. Values that make no sense are replaced by the nearest that do.
package struct AppStoreServerLimits: Hashable, Sendable {
  /// Bytes of an answer. A page of 20 notifications has about 400 kB; the statuses of a customer are
  /// not paged, and have about 12 kB for each subscription.
  package var responseLength = 4 << 20
  /// Open connections to each host. One carries about five requests a second.
  package var connectionsPerHost = 16
  /// Calls that may wait for a permit, or for their next attempt. A quarter of them may wait for one
  /// app, environment and endpoint, so that a long pause of one does not stop the others.
  package var waitingCalls = 512
  /// Calls in progress, those that wait included.
  package var callsInProgress = 1_024
  /// Attempts of one call, the first one included.
  package var attempts = 6
  /// Pages of a sequence, with 20 elements each. Where it ends, the stored revision continues.
  package var pages = 10_000
  /// What Apple's rates, in Sandbox a tenth of those, are multiplied with. Below 1, since other
  /// nodes and tools may call for the same app; above 1 for a server with higher rates.
  package var rateFactor = 0.8
  /// The longest wait before the second attempt. It doubles with each further attempt. Waits are
  /// random between zero and this ("full jitter").
  package var firstBackoff = Duration.milliseconds(250)
  /// The limit at which ``firstBackoff`` stops doubling.
  package var longestBackoff = Duration.seconds(20)
  /// The longest time from now that a `Retry-After` is waited for. Apple enforces its rates by the
  /// hour.
  package var longestRetryAfter = Duration.seconds(7_200)
  /// Time of one attempt, to the last byte of its answer, so that a connection that hangs does not
  /// take all the time until the deadline.
  package var attemptTime = Duration.seconds(30)
  /// Time until a request has a connection: until one is opened, with TLS, or until one that other
  /// requests use is free. With 16 connections that answer in 0.3 s each, ``callsInProgress`` have
  /// theirs within it.
  package var connectionTime = Duration.seconds(20)
  /// How long an idle connection is kept open.
  package var idleTime = Duration.seconds(60)

  package init() {}

  /// Calls that may wait for one app, environment and endpoint.
  var waitingCallsPerLane: Int { (waitingCalls + 3) / 4 }

  var corrected: AppStoreServerLimits {
    var limits = self
    limits.responseLength = min(max(responseLength, 1), 1 << 30)
    limits.connectionsPerHost = max(connectionsPerHost, 1)
    limits.waitingCalls = min(max(waitingCalls, 0), 100_000)
    limits.callsInProgress = max(callsInProgress, 1)
    limits.attempts = max(attempts, 1)
    limits.pages = max(pages, 1)
    limits.rateFactor = rateFactor.isFinite ? min(max(rateFactor, 0.001), 10_000) : 0.8
    for time in [
      \AppStoreServerLimits.firstBackoff, \.longestBackoff, \.longestRetryAfter, \.attemptTime,
      \.connectionTime, \.idleTime,
    ] as [WritableKeyPath<AppStoreServerLimits, Duration>] {
      limits[keyPath: time] = min(max(limits[keyPath: time], .milliseconds(1)), .seconds(86_400))
    }
    return limits
  }
}

/// The clocks of the client, which tests replace.
package struct AppStoreServerClock: Sendable {
  /// The wall clock: for tokens, and for the dates that Apple sends.
  let now: @Sendable () -> Milliseconds
  /// The monotonic clock of deadlines.
  let uptime: @Sendable () -> NIODeadline
  /// Waits between attempts. Throws `CancellationError` when the task is cancelled.
  let sleep: @Sendable (_ end: NIODeadline) async throws -> Void

  package init(
    now: @escaping @Sendable () -> Milliseconds, uptime: @escaping @Sendable () -> NIODeadline,
    sleep: @escaping @Sendable (_ end: NIODeadline) async throws -> Void
  ) {
    self.now = now
    self.uptime = uptime
    self.sleep = sleep
  }

  /// The system's clocks, with another wall clock if one is given.
  package static func system(
    now: @escaping @Sendable () -> Milliseconds = AppStoreServerClock.systemNow
  ) -> AppStoreServerClock {
    AppStoreServerClock(now: now, uptime: { .now() }) { end in
      try await Task.sleep(for: Duration(max(TimeAmount.zero, end - NIODeadline.now())))
    }
  }

  package static let systemNow: @Sendable () -> Milliseconds = {
    Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000))
  }
}
