import EntitlementDomain

/// Decides about the attempts of one call. No clock and no I/O.
struct CallRetries: Sendable {
  enum Step: Hashable, Sendable {
    /// The error is the answer to the call.
    case fail
    /// At once, with a new token.
    case withFreshToken
    /// After this time.
    case after(Duration)
  }

  /// Repetitions after 5xx that Apple does not call retryable: its pages say to try later.
  static let serverFaults = 2

  private let endpoint: AppStoreServerEndpoint
  private let limits: AppStoreServerLimits
  private(set) var attempts = 0
  private var serverFaults = 0
  private var hasFreshToken = false
  private var mayHaveTakenEffect = false

  init(_ endpoint: AppStoreServerEndpoint, _ limits: AppStoreServerLimits) {
    self.endpoint = endpoint
    self.limits = limits
  }

  /// An attempt failed.
  ///
  /// - Parameter jitter: from 0 to 1.
  mutating func attemptFailed(
    _ error: AppStoreServerError, now: Milliseconds, jitter: Double
  ) -> Step {
    attempts += 1
    mayHaveTakenEffect = mayHaveTakenEffect || error.mayHaveTakenEffect
    if error.code == .unauthorized {
      // The clock, or a key that was replaced. With a fresh token it is the key, or the app.
      defer { hasFreshToken = true }
      return hasFreshToken ? .fail : .withFreshToken
    }
    guard error.isRetryable, attempts < limits.attempts, error.code != .deadlineExceeded,
      !error.mayHaveTakenEffect || endpoint.isRepeatable
    else { return .fail }
    if error.code == .refused, error.errorCode?.isRetryable != true {
      serverFaults += 1
      guard serverFaults <= Self.serverFaults else { return .fail }
    }
    // Full jitter. The shift is bounded by the attempts that any limit makes sense of.
    let backoff =
      min(limits.longestBackoff, limits.firstBackoff * (1 << min(attempts - 1, 20))) * jitter
    let asked = error.retryAt.map { Duration.milliseconds(max(0, $0.rawValue - now.rawValue)) }
    return .after((asked ?? .zero) + backoff)
  }

  /// The error of the call, by this attempt and the former ones.
  func ended(with error: AppStoreServerError) -> AppStoreServerError {
    var error = error
    error.mayHaveTakenEffect = error.mayHaveTakenEffect || mayHaveTakenEffect
    return error
  }
}
