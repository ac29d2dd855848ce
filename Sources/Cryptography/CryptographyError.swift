import COpenSSL

/// An error of a cryptographic operation. It never contains key material or payloads.
package struct CryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// Not exactly one certificate in DER.
    case malformedCertificate
    /// Not a CMS message with attached content and one signer.
    case malformedSignedData
    /// Not a public key of the required kind.
    case unsupportedPublicKey
    /// Not a private key of the required kind.
    case malformedPrivateKey
    /// Not canonical base64.
    case malformedBase64
    /// Not a PEM file with the required content.
    case malformedPEM
    /// Not a fingerprint such as `sha256:` and 64 hexadecimal digits.
    case malformedFingerprint
    case signingFailed
    /// Not an OCSP response with exactly one status of the requested certificate.
    case malformedStatusResponse
    /// The responder returned an error status (RFC 6960 section 4.2.1).
    case statusRefused
    /// An OCSP response with an invalid signature or an unauthorised signer.
    case untrustedStatusResponse
    /// An OCSP response that is not valid yet or has expired.
    case staleStatusResponse
    /// OpenSSL failed, for example because it is out of memory. Says nothing about the data.
    case libraryFault
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(message)" }
}

extension CryptographyError {
  /// Throws if the last OpenSSL call failed because it was out of memory, which says nothing about
  /// the data. Clear the error queue before the call.
  ///
  /// - Throws: ``Code/libraryFault``.
  static func checkMemory(for work: StaticString) throws(CryptographyError) {
    guard ERR_GET_REASON(ERR_peek_error()) == Int32(ERR_R_MALLOC_FAILURE) else { return }
    throw CryptographyError(.libraryFault, "no memory for \(work)")
  }
}
