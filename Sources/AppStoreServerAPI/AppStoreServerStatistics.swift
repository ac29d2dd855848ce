package import EntitlementDomain

/// Counters of a client since its start, and how much of its bounds is in use.
package struct AppStoreServerStatistics: Hashable, Sendable {
  /// What calls are counted by.
  package struct Call: Hashable, Sendable {
    package let endpoint: AppStoreServerEndpoint
    package let environment: StoreEnvironment
    /// Nil: it succeeded.
    package let failure: AppStoreServerError.Code?

    /// `ok`, or the name of the code.
    package var outcome: String { failure?.rawValue ?? "ok" }
  }

  /// Calls that have ended.
  package var calls: [Call: Int] = [:]
  /// Requests that were sent, or for which no connection could be opened.
  package var requests = 0
  /// Of these, the ones after the first of a call.
  package var retries = 0
  /// Times that a call waited for a permit: for a token of its bucket, or for the end of a 429.
  package var permitWaits = 0
  /// Tokens that were signed; the others were cached.
  package var tokensSigned = 0
  /// Times that the file of a key was replaced by one that cannot be used.
  package var keyFileFailures = 0
  package var callsInProgress = 0
  package var callsInProgressLimit = 0
  /// Calls that wait for a permit or their next attempt.
  package var waitingCalls = 0
  package var waitingCallsLimit = 0

  package init() {}
}
