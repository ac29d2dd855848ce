import COpenSSL

/// A mutable X.509 object, for building certificates. For validation use ``Certificate``.
final class OwnedCertificate {
  let pointer: OpaquePointer

  /// An empty version 3 certificate.
  init() throws(CryptographyError) {
    guard let pointer = X509_new() else {
      throw CryptographyError(.libraryFault, "no memory for a certificate")
    }
    self.pointer = pointer
    // Versions are encoded from zero (RFC 5280 §4.1.2.1).
    guard X509_set_version(pointer, 2) == 1 else {
      throw CryptographyError(.libraryFault, "the certificate's version could not be set")
    }
  }

  /// - Throws: ``CryptographyError/Code/malformedCertificate`` unless `der` is exactly one
  ///   certificate.
  init(der: [UInt8]) throws(CryptographyError) {
    let (parsed, consumed) = der.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      let parsed = d2i_X509(nil, &position, buffer.count)
      return (parsed, position.map { $0 - (buffer.baseAddress ?? $0) } ?? 0)
    }
    guard let parsed else {
      ERR_clear_error()
      throw CryptographyError(.malformedCertificate, "not a certificate in DER")
    }
    guard consumed == der.count else {
      X509_free(parsed)
      throw CryptographyError(.malformedCertificate, "bytes follow the certificate")
    }
    pointer = parsed
  }

  /// Takes ownership of the caller's reference.
  init(owning pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit { X509_free(pointer) }

  /// - Throws: ``CryptographyError/Code/libraryFault``.
  func derBytes() throws(CryptographyError) -> [UInt8] {
    let length = i2d_X509(pointer, nil)
    guard length > 0 else {
      throw CryptographyError(.libraryFault, "the certificate could not be encoded")
    }
    var encoded = [UInt8](repeating: 0, count: Int(length))
    let written = encoded.withUnsafeMutableBufferPointer { buffer in
      var position = buffer.baseAddress
      return i2d_X509(pointer, &position)
    }
    guard written == length else {
      throw CryptographyError(.libraryFault, "the certificate could not be encoded")
    }
    return encoded
  }
}
