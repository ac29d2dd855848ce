import COpenSSL

/// A CMS message of type SignedData (RFC 5652 section 5) with its content inside, and one signer.
/// One thread at a time.
package final class CMSSignedData {
  private let pointer: OpaquePointer
  // Both belong to the message, and live as long as it.
  private let signer: OpaquePointer
  /// What is signed.
  package let content: [UInt8]
  package let signature: [UInt8]

  /// - Parameter der: the message and nothing after it. OpenSSL reads more than DER and nests as
  ///   deep as the text does, so bounds are the caller's to see to.
  /// - Throws: ``CryptographyError/Code/malformedSignedData``, also when the content is of another
  ///   type than data, or elsewhere, or the signers are not one.
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
        .malformedSignedData, "not signed data with its content inside and one signer")
    }
    pointer = parsed
    self.signer = signer
    self.content = Self.bytes(of: content)
    self.signature = Self.bytes(of: signature)
  }

  deinit { CMS_ContentInfo_free(pointer) }

  /// Whether the signature over the content is that of the certificate's key. The certificate
  /// itself is not judged.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL had no memory for it.
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
