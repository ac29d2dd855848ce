/// Counters of certificate status checks.
package struct StatusStatistics: Hashable, Sendable {
  /// Requests sent.
  package var asked = 0
  package var good = 0
  package var revoked = 0
  /// Responses with the status unknown.
  package var unknown = 0
  /// Responses that are not valid.
  package var unusable = 0
  /// Requests without a response.
  package var unreachable = 0
  /// Certificates without a responder.
  package var withoutResponder = 0
  /// Requests that were not sent because too many were in flight.
  package var turnedAway = 0
  /// Cache hits.
  package var hits = 0
  /// Queries that joined a request in flight.
  package var joined = 0
  /// Payloads with an unknown status: accepted by soft, refused by strict.
  package var undecided = 0
  /// Cached certificates, and how many may be.
  package var entries = 0
  package var entriesLimit = 0
  /// Requests in flight, and how many may be.
  package var inFlight = 0
  package var inFlightLimit = 0

  package init() {}
}

/// A log event of one status request, whatever the number of payloads that wait for it.
package struct StatusEvent: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case revoked
    /// The responder does not know the certificate.
    case unknown
    /// The response was not valid.
    case unusable
    /// There was no response.
    case unreachable
    /// The certificate has no responder with an `http:` URL.
    case withoutResponder = "without_responder"
  }

  package let kind: Kind
  /// The certificate's subject in RFC 2253 form.
  package let subject: String
  /// URL of the responder; nil if there is none.
  package let address: String?
  /// A description without a full stop.
  package let detail: String
}
