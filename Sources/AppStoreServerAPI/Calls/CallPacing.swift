import EntitlementDomain
import Framing
import NIOCore

/// When requests may be sent: a token bucket for each app, environment and endpoint, below Apple's
/// rates; and a pause of all of them after a 429. No clock and no I/O.
struct CallPacing: Sendable {
  struct Lane: Hashable, Sendable {
    let app: AppScope
    let endpoint: AppStoreServerEndpoint
  }

  enum Permit: Hashable, Sendable {
    /// Now.
    case now
    /// At this moment: a token is taken for it.
    case reserved(NIODeadline)
    /// Not before this moment, when the question is to be repeated.
    case paused(NIODeadline)
    /// The next permit is at this moment, at or after the call's deadline. No token is taken.
    case refused(NIODeadline)
    /// A wait is needed, and not allowed. No token is taken.
    case busy
  }

  private struct Bucket {
    var tokens: TokenBucket
    var pauseEnd = NIODeadline.distantPast
  }

  private let rateFactor: Double
  private let waitingCalls: Int
  private var buckets: [Lane: Bucket] = [:]

  /// - Parameters:
  ///   - rateFactor: what Apple's rates are multiplied with.
  ///   - waitingCalls: how many calls may wait. It bounds the debt of a bucket.
  init(rateFactor: Double, waitingCalls: Int) {
    self.rateFactor = rateFactor
    self.waitingCalls = waitingCalls
  }

  /// Asks to send one request.
  ///
  /// - Parameter mayWait: whether there is room for one more waiting call.
  mutating func permit(
    _ lane: Lane, now: NIODeadline, deadline: NIODeadline, mayWait: Bool
  ) -> Permit {
    var bucket = buckets[lane] ?? Bucket(tokens: tokens(of: lane))
    defer { buckets[lane] = bucket }
    if bucket.pauseEnd > now {
      guard bucket.pauseEnd < deadline else { return .refused(bucket.pauseEnd) }
      return mayWait ? .paused(bucket.pauseEnd) : .busy
    }
    let moment = bucket.tokens.nextToken(now: now)
    if let moment {
      guard moment < deadline else { return .refused(moment) }
      guard mayWait else { return .busy }
    }
    bucket.tokens.take(now: now)
    return moment.map { .reserved($0) } ?? .now
  }

  /// Whether a request for which a token was reserved must wait longer.
  func isPaused(_ lane: Lane, now: NIODeadline) -> Bool {
    buckets[lane].map { $0.pauseEnd > now } ?? false
  }

  /// Apple allows no requests before this moment.
  mutating func pause(_ lane: Lane, until end: NIODeadline) {
    var bucket = buckets[lane] ?? Bucket(tokens: tokens(of: lane))
    bucket.pauseEnd = max(bucket.pauseEnd, end)
    buckets[lane] = bucket
  }

  /// Forgets all other apps.
  mutating func keep(_ apps: Set<BundleID>) {
    buckets = buckets.filter { apps.contains($0.key.app.bundleID) }
  }

  private func tokens(of lane: Lane) -> TokenBucket {
    let environmentFactor = lane.app.environment == .production ? 1 : 0.1
    let rate = lane.endpoint.requestsPerSecond * environmentFactor * rateFactor
    let interval = TimeAmount.nanoseconds(Int64(1_000_000_000 / rate))
    return TokenBucket(
      interval: interval, capacity: Int(rate), largestDebt: interval * (waitingCalls + 1))
  }
}
