/// Why a cryptographic operation could not be done. It never holds key material or payloads.
package struct CryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// Not a certificate in DER, or bytes follow it.
    case malformedCertificate
    /// Not a CMS message with its content inside and one signer.
    case malformedSignedData
    /// Not a public key of the kind that is needed.
    case unsupportedPublicKey
    /// Not a private key of the kind that is needed.
    case malformedPrivateKey
    /// Not base64 in the one form that is accepted.
    case malformedBase64
    /// Not a PEM file that holds what is needed.
    case malformedPEM
    /// Not a fingerprint such as `sha256:` and 64 hexadecimal digits.
    case malformedFingerprint
    case signingFailed
    /// Not an OCSP response with exactly one statement on the certificate that was asked for.
    case malformedStatusResponse
    /// The responder says that it cannot answer (RFC 6960 section 4.2.1).
    case statusRefused
    /// An OCSP response that its signer may not give, or whose signature is wrong.
    case untrustedStatusResponse
    /// An OCSP response of another time.
    case staleStatusResponse
    /// OpenSSL could not work, for want of memory or because of its configuration. Says nothing of
    /// the data.
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
