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

  /// The wait before the next attempt, if Apple asks for none ("full jitter").
  ///
  /// - Parameter jitter: from 0 to 1.
  func backoff(jitter: Double) -> Duration {
    // The shift is bounded by the attempts that any limit makes sense of.
    min(limits.longestBackoff, limits.firstBackoff * (1 << min(attempts, 20))) * jitter
  }

  /// An attempt failed.
  ///
  /// - Parameters:
  ///   - asked: how long Apple asks to wait.
  ///   - backoff: the one of this attempt.
  mutating func attemptFailed(
    _ error: AppStoreServerError, asked: Duration?, backoff: Duration
  ) -> Step {
    attempts += 1
    mayHaveTakenEffect = mayHaveTakenEffect || error.mayHaveTakenEffect
    if error.code == .unauthorized {
      // The clock, or a key that was replaced. With a fresh token it is the key, or the app.
      defer { hasFreshToken = true }
      return hasFreshToken ? .fail : .withFreshToken
    }
    guard !endpoint.tellsConsumption, error.isRetryable, attempts < limits.attempts,
      error.code != .deadlineExceeded,
      !error.mayHaveTakenEffect || endpoint.isRepeatable
    else { return .fail }
    if error.code == .refused, error.errorCode?.isRetryable != true {
      serverFaults += 1
      guard serverFaults <= Self.serverFaults else { return .fail }
    }
    return .after((asked ?? .zero) + backoff)
  }

  /// The error of the call, by this attempt and the former ones.
  func ended(with error: AppStoreServerError) -> AppStoreServerError {
    var error = error
    error.mayHaveTakenEffect = error.mayHaveTakenEffect || mayHaveTakenEffect
    return error
  }
}
