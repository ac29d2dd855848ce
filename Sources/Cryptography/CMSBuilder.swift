import COpenSSL

/// Builds CMS SignedData (RFC 5652 section 5) in the form of App Store receipts. The content is
/// attached as `id-data`. One signer, identified by issuer and serial number, signs it without
/// signed attributes.
package struct CMSBuilder: Sendable {
  /// The signer's certificate, in DER.
  package var signerCertificate: [UInt8]
  /// The private key of ``signerCertificate``.
  package var signerKey: RSASigningKey
  /// Certificates to embed, in DER. The signer's certificate is embedded only if it is listed. The
  /// encoding is a set, sorted by the encodings of its elements.
  package var embeddedCertificates: [[UInt8]]

  package init(
    signerCertificate: [UInt8], signerKey: RSASigningKey, embeddedCertificates: [[UInt8]]
  ) {
    self.signerCertificate = signerCertificate
    self.signerKey = signerKey
    self.embeddedCertificates = embeddedCertificates
  }

  /// The encoding of a message.
  package enum Form: Hashable, Sendable {
    case der
    /// BER with indefinite lengths and the content in segments, as in receipts of Xcode.
    case indefiniteLengths
  }

  /// Signs `content` with RSA and PKCS #1 v1.5 padding. The result is deterministic.
  ///
  /// - Returns: a ContentInfo in the given form.
  /// - Throws: ``CryptographyError/Code/malformedCertificate``,
  ///   ``CryptographyError/Code/signingFailed`` when the key does not match the certificate or a
  ///   certificate is listed twice, ``CryptographyError/Code/libraryFault``.
  package func signedData(
    over content: [UInt8], digest: CMSDigest, form: Form = .der
  ) throws(CryptographyError) -> [UInt8] {
    let signer = try OwnedCertificate(der: signerCertificate)
    var embedded: [OwnedCertificate] = []
    for certificate in embeddedCertificates {
      embedded.append(try OwnedCertificate(der: certificate))
    }
    let input = try MemoryBuffer(holding: content)
    var flags = UInt32(CMS_BINARY | CMS_NOATTR | CMS_NOCERTS)
    if form == .indefiniteLengths { flags |= UInt32(CMS_STREAM) }
    guard let message = CMS_sign(nil, nil, nil, nil, flags | UInt32(CMS_PARTIAL)) else {
      throw Self.failure(.libraryFault, "no memory for a signed message")
    }
    defer { CMS_ContentInfo_free(message) }
    let isSigned = signerKey.withPointer { key in
      CMS_add1_signer(message, signer.pointer, key, digest.algorithm, flags) != nil
        && embedded.allSatisfy { CMS_add1_cert(message, $0.pointer) == 1 }
        // A message in segments is signed while it is written.
        && (form == .indefiniteLengths
          || CMS_final(message, input.pointer, nil, flags) == 1)
    }
    guard isSigned else { throw Self.failure(.signingFailed, "the message could not be signed") }
    switch form {
    case .der: return try Self.encode(message)
    case .indefiniteLengths: return try Self.encode(message, over: input, flags: flags)
    }
  }

  private static func encode(
    _ message: OpaquePointer, over input: MemoryBuffer, flags: UInt32
  ) throws(CryptographyError) -> [UInt8] {
    let output = try MemoryBuffer()
    guard i2d_CMS_bio_stream(output.pointer, message, input.pointer, Int32(flags)) == 1 else {
      throw failure(.signingFailed, "the message could not be signed")
    }
    return output.bytes
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
  /// A constant of OpenSSL, valid for the life of the process.
  fileprivate var algorithm: OpaquePointer? {
    switch self {
    case .sha1: EVP_sha1()
    case .sha256: EVP_sha256()
    }
  }
}
