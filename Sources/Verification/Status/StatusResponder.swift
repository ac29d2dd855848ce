/// Carries questions for the status of certificates to those who answer them.
package protocol StatusResponder: Sendable {
  /// Posts an OCSP request (RFC 6960 appendix A.1).
  ///
  /// - Parameters:
  ///   - request: in DER.
  ///   - url: as the certificate names it; nothing but `http:` is asked for.
  /// - Returns: what was answered, not judged; bounded in bytes.
  /// - Throws: when there is no answer within a time that the responder bounds itself. The error's
  ///   description goes to the log.
  func answer(to request: [UInt8], at url: String) async throws -> [UInt8]
}
