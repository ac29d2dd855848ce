/// Why a TLS connection failed, as one side sees it. BoringSSL has no codes that a program can
/// compare, but the names of its reasons are stable.
package enum TLSFailure: CaseIterable, Hashable, Sendable {
  /// The other side sent something else than TLS.
  case notTLS
  /// The other side has no TLS 1.3.
  case version
  /// The client has no certificate, and the server requires one.
  case noCertificate
  /// This side does not trust the certificate of the other side.
  case untrusted
  /// The certificate of the other side is expired, or not valid yet.
  case notValidNow
  /// The certificate of the server is for another name.
  case wrongName
  /// The other side does not know the authority of this side's certificate.
  case authorityRefused
  /// The other side says that this side's certificate is expired.
  case expiryRefused
  /// The other side refuses this side's certificate for a reason that it does not tell.
  case certificateRefused
  /// The other side ended the connection during the handshake.
  case ended
  case other

  /// - Parameter error: The description of a BoringSSL error.
  package init(of error: String) {
    let reasons: [(String, TLSFailure)] = [
      ("PEER_DID_NOT_RETURN_A_CERTIFICATE", .noCertificate),
      ("ALERT_CERTIFICATE_REQUIRED", .noCertificate),
      ("CERTIFICATE_VERIFY_FAILED", .untrusted),
      ("ALERT_UNKNOWN_CA", .authorityRefused),
      ("ALERT_CERTIFICATE_EXPIRED", .expiryRefused),
      ("ALERT_BAD_CERTIFICATE", .certificateRefused),
      ("ALERT_CERTIFICATE_UNKNOWN", .certificateRefused),
      ("ALERT_UNSUPPORTED_CERTIFICATE", .certificateRefused),
      ("ALERT_CERTIFICATE_REVOKED", .certificateRefused),
      ("ALERT_ACCESS_DENIED", .certificateRefused),
      // OpenSSL's clients send the alert of a refused certificate before they encrypt.
      ("BAD_PACKET_LENGTH", .certificateRefused),
      ("ALERT_PROTOCOL_VERSION", .version),
      ("UNSUPPORTED_PROTOCOL", .version),
      ("NO_SUPPORTED_VERSIONS_ENABLED", .version),
      ("WRONG_VERSION_NUMBER", .notTLS),
      ("HTTP_REQUEST", .notTLS),
      ("HTTPS_PROXY_REQUEST", .notTLS),
      ("EOF during handshake", .ended),
    ]
    self = reasons.first { error.contains($0.0) }?.1 ?? .other
  }
}

extension FrameHeader {
  /// Whether the bytes of this header begin a TLS handshake (RFC 8446 section 5.1). As the length of
  /// a frame they are far above the limit.
  package var isTLSHandshake: Bool { dataLength >> 16 == 0x1603 }
}
