import COpenSSL

/// Makes CMS SignedData (RFC 5652 section 5) in the form of the App Store's receipts: the content is
/// attached as `id-data`, one signer, named by issuer and serial number, signs it without signed
/// attributes, and the certificates that are wanted are embedded.
package struct CMSBuilder: Sendable {
  /// The signer's certificate, in DER, and its key.
  package var signerCertificate: [UInt8]
  package var signerKey: RSASigningKey
  /// In DER. The signer's own is embedded when it is among them. A set has no order: they stand in
  /// the order of their encodings.
  package var embeddedCertificates: [[UInt8]]

  package init(
    signerCertificate: [UInt8], signerKey: RSASigningKey, embeddedCertificates: [[UInt8]]
  ) {
    self.signerCertificate = signerCertificate
    self.signerKey = signerKey
    self.embeddedCertificates = embeddedCertificates
  }

  /// A ContentInfo with the signed content, in DER. The signature is RSA with PKCS #1 v1.5 padding,
  /// so that the same content gives the same bytes.
  ///
  /// - Throws: ``CryptographyError/Code/malformedCertificate``,
  ///   ``CryptographyError/Code/signingFailed`` when the key is not the certificate's or a
  ///   certificate is there twice, ``CryptographyError/Code/libraryFault``.
  package func signedData(
    over content: [UInt8], digest: CMSDigest
  ) throws(CryptographyError) -> [UInt8] {
    let signer = try OwnedCertificate(der: signerCertificate)
    var embedded: [OwnedCertificate] = []
    for certificate in embeddedCertificates {
      embedded.append(try OwnedCertificate(der: certificate))
    }
    let input = try MemoryBuffer(holding: content)
    let flags = UInt32(CMS_BINARY | CMS_NOATTR | CMS_NOCERTS)
    guard let message = CMS_sign(nil, nil, nil, nil, flags | UInt32(CMS_PARTIAL)) else {
      throw Self.failure(.libraryFault, "no memory for a signed message")
    }
    defer { CMS_ContentInfo_free(message) }
    let isSigned = signerKey.withPointer { key in
      CMS_add1_signer(message, signer.pointer, key, digest.algorithm, flags) != nil
        && embedded.allSatisfy { CMS_add1_cert(message, $0.pointer) == 1 }
        && CMS_final(message, input.pointer, nil, flags) == 1
    }
    guard isSigned else { throw Self.failure(.signingFailed, "the message could not be signed") }
    return try Self.encode(message)
  }

  private static func encode(_ message: OpaquePointer) throws(CryptographyError) -> [UInt8] {
    let length = i2d_CMS_ContentInfo(message, nil)
    guard length > 0 else { throw failure(.libraryFault, "the message could not be encoded") }
    var encoded = [UInt8](repeating: 0, count: Int(length))
    let written = encoded.withUnsafeMutableBufferPointer { buffer in
      var position = buffer.baseAddress
      return i2d_CMS_ContentInfo(message, &position)
    }
    guard written == length else {
      throw failure(.libraryFault, "the message could not be encoded")
    }
    return encoded
  }

  private static func failure(
    _ code: CryptographyError.Code, _ message: String
  ) -> CryptographyError {
    ERR_clear_error()
    return CryptographyError(code, message)
  }
}

extension CMSDigest {
  /// OpenSSL's, which lives as long as the process.
  fileprivate var algorithm: OpaquePointer? {
    switch self {
    case .sha1: EVP_sha1()
    case .sha256: EVP_sha256()
    }
  }
}
