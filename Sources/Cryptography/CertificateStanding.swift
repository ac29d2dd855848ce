/// What an issuer says of a certificate, and for how long (RFC 6960 sections 2.2 and 4.2.2.1).
/// Moments are in milliseconds since the Unix epoch.
package struct CertificateStanding: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case good
    /// - Parameters:
    ///   - moment: since when.
    ///   - reason: by the name of RFC 5280 section 5.3.1, `keyCompromise` for one; nil when it is not
    ///     said.
    case revoked(moment: Int64, reason: String?)
    /// The responder does not know the certificate.
    case unknown
  }

  package let status: Status
  /// When this was known to be right.
  package let thisUpdate: Int64
  /// The last moment at which it may be relied on.
  package let usableUntil: Int64

  package init(status: Status, thisUpdate: Int64, usableUntil: Int64) {
    self.status = status
    self.thisUpdate = thisUpdate
    self.usableUntil = usableUntil
  }
}
