import COpenSSL

/// An immutable X.509 certificate. Safe on any thread.
// @unchecked: the `X509` is not modified after parsing, OpenSSL locks what it caches in it, and
// `deinit` frees it once.
package final class Certificate: @unchecked Sendable {
  let pointer: OpaquePointer
  /// SHA-256 of the DER encoding.
  package let fingerprint: CertificateFingerprint
  /// `notBefore` and `notAfter` (RFC 5280 section 4.1.2.5), in milliseconds since the Unix epoch,
  /// both inclusive.
  package let validity: ClosedRange<Int64>
  /// OpenSSL's summary of the extensions (`EXFLAG_…`).
  private let flags: UInt32

  /// Parses exactly one certificate in DER. BER is rejected, so each certificate has one encoding
  /// and one fingerprint.
  ///
  /// - Throws: ``CryptographyError/Code/malformedCertificate``, or
  ///   ``CryptographyError/Code/libraryFault``.
  package init(der: [UInt8]) throws(CryptographyError) {
    ERR_clear_error()
    let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var position = buffer.baseAddress
      guard let pointer = d2i_X509(nil, &position, buffer.count) else { return nil }
      guard position == buffer.baseAddress.map({ $0 + buffer.count }) else {
        X509_free(pointer)
        return nil
      }
      guard Self.encoded(pointer) == der else {
        X509_free(pointer)
        return nil
      }
      return pointer
    }
    guard let parsed else {
      defer { ERR_clear_error() }
      try CryptographyError.checkMemory(for: "a certificate")
      throw CryptographyError(.malformedCertificate, "not exactly one certificate in DER")
    }
    do {
      fingerprint = CertificateFingerprint(try SHA256.digest(of: der))
      validity = try Self.validity(of: parsed)
    } catch {
      X509_free(parsed)
      throw error
    }
    flags = X509_get_extension_flags(parsed)
    pointer = parsed
    guard flags & UInt32(EXFLAG_INVALID) == 0 else {
      ERR_clear_error()
      throw CryptographyError(.malformedCertificate, "the certificate's extensions are not valid")
    }
  }

  deinit { X509_free(pointer) }

  /// Whether the basic constraints of a version 3 certificate mark it as a CA.
  package var isAuthority: Bool {
    flags & UInt32(EXFLAG_CA) != 0 && flags & UInt32(EXFLAG_V1) == 0
  }

  /// The path length constraint: how many CAs may follow between this certificate and the leaf; nil
  /// for no limit.
  package var pathLengthLimit: Int? {
    let limit = X509_get_pathlen(pointer)
    return limit < 0 ? nil : limit
  }

  /// Whether the key usage extension allows signing certificates. Without the extension, nothing
  /// restricts the key (RFC 5280 section 6.1.4 (n)).
  package var mayIssueCertificates: Bool {
    flags & UInt32(EXFLAG_KUSAGE) == 0 || hasKeyUsage(UInt32(KU_KEY_CERT_SIGN))
  }

  /// Whether the key usage extension is present and allows signing data.
  package var maySignData: Bool { hasKeyUsage(UInt32(KU_DIGITAL_SIGNATURE)) }

  /// Whether the extended key usage extension is present and allows signing code.
  package var maySignCode: Bool {
    // OpenSSL reports every usage if the extension is absent, so it must be present.
    flags & UInt32(EXFLAG_XKUSAGE) != 0
      && X509_get_extended_key_usage(pointer) & UInt32(XKU_CODE_SIGN) != 0
  }

  /// Whether the certificate has a critical extension that is not evaluated. Such a certificate
  /// must be rejected (RFC 5280 section 4.2).
  ///
  /// Basic constraints and key usage are evaluated. Certificate policies are accepted with any
  /// value.
  ///
  /// - Parameter evaluated: dotted object identifiers of extensions that the caller evaluates.
  package func hasUnknownCriticalExtension(except evaluated: [String]) -> Bool {
    let known = [NID_basic_constraints, NID_key_usage, NID_certificate_policies]
    return (0..<X509_get_ext_count(pointer)).contains { index in
      let item = X509_get_ext(pointer, index)
      guard X509_EXTENSION_get_critical(item) == 1,
        let object = X509_EXTENSION_get_object(item), !known.contains(OBJ_obj2nid(object))
      else { return false }
      return !evaluated.contains { Self.isObject(object, named: $0) }
    }
  }

  /// Whether an extension is present.
  ///
  /// - Parameter identifier: the dotted object identifier.
  package func hasExtension(_ identifier: String) -> Bool {
    guard let object = OBJ_txt2obj(identifier, 1) else {
      ERR_clear_error()
      return false
    }
    defer { ASN1_OBJECT_free(object) }
    return X509_get_ext_by_OBJ(pointer, object, -1) >= 0
  }

  /// Whether `issuer` issued this certificate. Checks names, key identifiers, key usage and the
  /// signature.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL is out of memory.
  package func isIssued(by issuer: Certificate) throws(CryptographyError) -> Bool {
    ERR_clear_error()
    defer { ERR_clear_error() }
    if X509_check_issued(issuer.pointer, pointer) == X509_V_OK,
      let key = X509_get0_pubkey(issuer.pointer), X509_verify(pointer, key) == 1
    {
      return true
    }
    try CryptographyError.checkMemory(for: "a certificate's signature")
    return false
  }

  /// The public key.
  ///
  /// - Throws: ``CryptographyError/Code/unsupportedPublicKey`` when it is not a P-256 key.
  package func verifyingKey() throws(CryptographyError) -> VerifyingKey {
    ERR_clear_error()
    guard let key = X509_get_pubkey(pointer) else {
      defer { ERR_clear_error() }
      try CryptographyError.checkMemory(for: "a public key")
      throw CryptographyError(.unsupportedPublicKey, "the public key cannot be read")
    }
    return try VerifyingKey(owning: key)
  }

  /// The subject name in RFC 2253 form, for display.
  package var subject: String { text(of: X509_get_subject_name(pointer)) }

  /// The issuer name in RFC 2253 form, for display.
  package var issuer: String { text(of: X509_get_issuer_name(pointer)) }

  private static func isObject(_ object: OpaquePointer, named identifier: String) -> Bool {
    guard let named = OBJ_txt2obj(identifier, 1) else {
      ERR_clear_error()
      return false
    }
    defer { ASN1_OBJECT_free(named) }
    return OBJ_cmp(object, named) == 0
  }

  /// Re-encodes the certificate in DER. OpenSSL keeps the signed part as received.
  private static func encoded(_ pointer: OpaquePointer) -> [UInt8] {
    var output: UnsafeMutablePointer<UInt8>?
    let length = i2d_X509(pointer, &output)
    defer { CRYPTO_free(output, nil, 0) }
    return Array(UnsafeBufferPointer(start: output, count: max(0, Int(length))))
  }

  private func hasKeyUsage(_ usage: UInt32) -> Bool {
    // OpenSSL reports every usage if the extension is absent, so it must be present.
    flags & UInt32(EXFLAG_KUSAGE) != 0 && X509_get_key_usage(pointer) & usage != 0
  }

  private func text(of name: OpaquePointer?) -> String {
    guard let name, let output = try? MemoryBuffer(),
      entitle_name_print(output.pointer, name) >= 0
    else {
      ERR_clear_error()
      return ""
    }
    return String(decoding: output.bytes, as: UTF8.self)
  }

  private static func validity(
    of pointer: OpaquePointer
  ) throws(CryptographyError) -> ClosedRange<Int64> {
    var first: Int64 = 0
    var last: Int64 = 0
    // Years have four digits, so the product cannot overflow.
    guard entitle_asn1_time_seconds(X509_get0_notBefore(pointer), &first) == 1,
      entitle_asn1_time_seconds(X509_get0_notAfter(pointer), &last) == 1, first <= last
    else {
      ERR_clear_error()
      throw CryptographyError(.malformedCertificate, "the validity dates cannot be read")
    }
    return first * 1_000...last * 1_000
  }
}

extension Certificate {
  /// The URLs of the OCSP responders (RFC 5280 section 4.2.2.1), in order; empty if the certificate
  /// has none.
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

  /// Copies a certificate that another OpenSSL object owns.
  ///
  /// - Throws: ``CryptographyError`` as ``init(der:)``.
  convenience init(copying pointer: OpaquePointer) throws(CryptographyError) {
    var output: UnsafeMutablePointer<UInt8>?
    let length = i2d_X509(pointer, &output)
    defer { CRYPTO_free(output, nil, 0) }
    try self.init(
      der: Array(UnsafeBufferPointer(start: output, count: max(0, Int(length)))))
  }

  /// Whether the extended key usage allows signing OCSP responses (RFC 6960 section 4.2.2.2) and
  /// the key usage, if present, allows signing data.
  var maySignStatusResponses: Bool {
    let flags = X509_get_extension_flags(pointer)
    // OpenSSL reports every usage if the extension is absent. The extended key usage must be
    // present.
    return flags & UInt32(EXFLAG_XKUSAGE) != 0
      && X509_get_extended_key_usage(pointer) & UInt32(XKU_OCSP_SIGN) != 0
      && X509_get_key_usage(pointer) & UInt32(KU_DIGITAL_SIGNATURE) != 0
      && flags & UInt32(EXFLAG_CRITICAL) == 0
  }
}

extension Certificate {
  /// The issuer name and the serial number in DER, concatenated. A CMS signer identifies its
  /// certificate by them (RFC 5652 section 10.2.4).
  package var issuerAndSerialNumber: [UInt8] {
    defer { ERR_clear_error() }
    var name: UnsafePointer<UInt8>?
    var length = 0
    // The certificate owns the name.
    guard X509_NAME_get0_der(X509_get_issuer_name(pointer), &name, &length) == 1 else { return [] }
    var number: UnsafeMutablePointer<UInt8>?
    let numberLength = i2d_ASN1_INTEGER(X509_get0_serialNumber(pointer), &number)
    defer { CRYPTO_free(number, nil, 0) }
    return Array(UnsafeBufferPointer(start: name, count: length))
      + UnsafeBufferPointer(start: number, count: max(0, Int(numberLength)))
  }
}

/// The SHA-256 of a certificate in DER.
package struct CertificateFingerprint: Hashable, Sendable, CustomStringConvertible {
  package let digest: SHA256Digest

  package init(_ digest: SHA256Digest) {
    self.digest = digest
  }

  /// Parses `sha256:` and 64 hexadecimal digits. Colons between the bytes, as `openssl x509
  /// -fingerprint` prints them, are allowed.
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
