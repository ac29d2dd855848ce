/// An error of a call of the App Store Server API, as callers of this server are told. It has no id,
/// token or payload.
package struct AppStoreFailure: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The App Store does not know what the request names.
    case notFound
    /// The App Store, or this server before it asks, says that the request is wrong.
    case invalidRequest
    /// The App Store refuses the request in the present state.
    case refused
    /// The App Store does not take the key, or the key cannot sign.
    case keyRefused
    /// The App Store's rate, or this server's part of it, is used up.
    case rateLimited
    /// This server makes as many such calls as it may.
    case busy
    /// The App Store could not be reached, failed, or sent what cannot be read.
    case unavailable
    case deadlineExceeded
    /// The call was cancelled, or this server stops.
    case cancelled
  }

  package var kind: Kind
  /// The HTTP status; nil without an answer.
  package var status: Int?
  /// Apple's code; nil if the answer has none.
  package var code: Int64?
  /// Apple's name of the code; nil for one that is not known.
  package var name: String?
  package var isRetryable: Bool
  /// How long to wait, where that is known.
  package var retryAfter: Duration?
  /// Whether a change may have been made.
  package var mayHaveTakenEffect: Bool

  package init(
    _ kind: Kind, status: Int? = nil, code: Int64? = nil, name: String? = nil,
    isRetryable: Bool = false, retryAfter: Duration? = nil, mayHaveTakenEffect: Bool = false
  ) {
    self.kind = kind
    self.status = status
    self.code = code
    self.name = name
    self.isRetryable = isRetryable
    self.retryAfter = retryAfter
    self.mayHaveTakenEffect = mayHaveTakenEffect
  }
}
