import COpenSSL

/// A CMS SignedData message (RFC 5652 section 5) with attached content and exactly one signer. Not
/// thread-safe.
package final class CMSSignedData {
  private let pointer: OpaquePointer
  // Owned by the message.
  private let signer: OpaquePointer
  /// The signed content.
  package let content: [UInt8]
  package let signature: [UInt8]

  /// - Parameter der: exactly one message. OpenSSL also accepts BER and recurses without a limit,
  ///   so the caller must check form and depth first.
  /// - Throws: ``CryptographyError/Code/malformedSignedData`` unless this is one CMS message with
  ///   attached content of type data and exactly one signer.
  package init(der: [UInt8]) throws(CryptographyError) {
    defer { ERR_clear_error() }
    let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var position = buffer.baseAddress
      guard let message = d2i_CMS_ContentInfo(nil, &position, buffer.count) else { return nil }
      guard position == buffer.baseAddress.map({ $0 + buffer.count }) else {
        CMS_ContentInfo_free(message)
        return nil
      }
      return message
    }
    guard let parsed else {
      throw CryptographyError(.malformedSignedData, "not exactly one CMS message")
    }
    guard OBJ_obj2nid(CMS_get0_type(parsed)) == NID_pkcs7_signed,
      OBJ_obj2nid(CMS_get0_eContentType(parsed)) == NID_pkcs7_data,
      let signer = entitle_cms_only_signer(parsed),
      let content = CMS_get0_content(parsed)?.pointee,
      let signature = CMS_SignerInfo_get0_signature(signer)
    else {
      CMS_ContentInfo_free(parsed)
      throw CryptographyError(
        .malformedSignedData, "not SignedData with attached content and one signer")
    }
    pointer = parsed
    self.signer = signer
    self.content = Self.bytes(of: content)
    self.signature = Self.bytes(of: signature)
  }

  deinit { CMS_ContentInfo_free(pointer) }

  /// Whether the key of `certificate` signed the content. The certificate itself is not validated.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL is out of memory.
  package func isSigned(by certificate: Certificate) throws(CryptographyError) -> Bool {
    ERR_clear_error()
    defer { ERR_clear_error() }
    CMS_SignerInfo_set1_signer_cert(signer, certificate.pointer)
    let flags = UInt32(CMS_BINARY | CMS_NO_SIGNER_CERT_VERIFY)
    if CMS_verify(pointer, nil, nil, nil, nil, flags) == 1 { return true }
    try CryptographyError.checkMemory(for: "a signature check")
    return false
  }

  private static func bytes(of string: UnsafePointer<ASN1_OCTET_STRING>) -> [UInt8] {
    Array(
      UnsafeBufferPointer(
        start: ASN1_STRING_get0_data(string), count: max(0, Int(ASN1_STRING_length(string)))))
  }
}

/// The hash functions of receipt signatures.
package enum CMSDigest: String, Hashable, Sendable, CaseIterable {
  case sha1 = "SHA-1"
  case sha256 = "SHA-256"
}
