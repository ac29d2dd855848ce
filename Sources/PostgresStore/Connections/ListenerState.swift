/// A listener on the pool's thread.
final class ListenerState {
  let handle: ListenerHandle
  var connection: PostgresConnection?
  /// Whether the server has confirmed that it will notify.
  var isListening = false
  var wantsAnnouncement = false
  var isAnnouncing = false
  /// When the server last gave a sign of life.
  var lastHeard = ContinuousClock.now
  var backoff: PostgresBackoff
  /// Not to be connected before this.
  var retryAt: ContinuousClock.Instant?

  init(_ handle: ListenerHandle, _ limits: PostgresPoolLimits) {
    self.handle = handle
    backoff = PostgresBackoff(first: limits.firstBackoff, longest: limits.longestBackoff)
  }

  /// When something is to be done if nothing comes; nil: nothing.
  func nextEvent(_ limits: PostgresPoolLimits) -> ContinuousClock.Instant? {
    guard let connection else { return retryAt }
    return connection.isIdle ? lastHeard + limits.keepaliveInterval : nil
  }
}
