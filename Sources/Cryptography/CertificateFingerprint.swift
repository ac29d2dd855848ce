/// The SHA-256 of a certificate in DER: names one certificate exactly, whatever its names say.
package struct CertificateFingerprint: Hashable, Sendable, CustomStringConvertible {
  package let digest: SHA256Digest

  package init(_ digest: SHA256Digest) {
    self.digest = digest
  }

  /// Reads `sha256:` and 64 hexadecimal digits, with or without colons between the bytes as
  /// `openssl x509 -fingerprint` prints them.
  ///
  /// - Throws: ``CryptographyError/Code/malformedFingerprint``.
  package init(parsing text: String) throws(CryptographyError) {
    let prefix = "sha256:"
    guard text.lowercased().hasPrefix(prefix),
      let digest = SHA256Digest(
        hexadecimal: text.dropFirst(prefix.count).filter { $0 != ":" })
    else {
      throw CryptographyError(
        .malformedFingerprint, "not a fingerprint: expected sha256: and 64 hexadecimal digits")
    }
    self.digest = digest
  }

  /// `sha256:` and 64 lower-case hexadecimal digits.
  package var description: String { "sha256:" + digest.hexadecimal }
}
