import COpenSSL

extension Certificate {
  /// The addresses at which the issuer answers for this certificate's status, in their order (RFC
  /// 5280 section 4.2.2.1); none when it names none.
  package var statusResponderAddresses: [String] {
    defer { ERR_clear_error() }
    guard let list = X509_get1_ocsp(pointer) else { return [] }
    defer { X509_email_free(list) }
    return (0..<OPENSSL_sk_num(list)).compactMap { index in
      OPENSSL_sk_value(list, index).map { text in
        String(cString: text.assumingMemoryBound(to: CChar.self))
      }
    }
  }

  /// Reads a certificate that belongs to another object of OpenSSL's.
  ///
  /// - Throws: ``CryptographyError`` as ``init(der:)``.
  convenience init(copying pointer: OpaquePointer) throws(CryptographyError) {
    var output: UnsafeMutablePointer<UInt8>?
    let length = i2d_X509(pointer, &output)
    defer { CRYPTO_free(output, nil, 0) }
    try self.init(
      der: Array(UnsafeBufferPointer(start: output, count: max(0, Int(length)))))
  }

  /// Whether the certificate is stated to be for signing OCSP responses (RFC 6960 section 4.2.2.2)
  /// and its key usage, where it has one, allows signing data.
  var maySignStatusResponses: Bool {
    let flags = X509_get_extension_flags(pointer)
    // Without the extension OpenSSL reports every usage: only a stated one counts for the first.
    return flags & UInt32(EXFLAG_XKUSAGE) != 0
      && X509_get_extended_key_usage(pointer) & UInt32(XKU_OCSP_SIGN) != 0
      && X509_get_key_usage(pointer) & UInt32(KU_DIGITAL_SIGNATURE) != 0
      && flags & UInt32(EXFLAG_CRITICAL) == 0
  }
}
