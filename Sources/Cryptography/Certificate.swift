import COpenSSL

/// An X.509 certificate as it was signed. Immutable, and safe on any thread.
// @unchecked: the `X509` is never changed after it was parsed, what OpenSSL caches in it is behind
// its own lock, and it is freed once, here.
package final class Certificate: @unchecked Sendable {
  let pointer: OpaquePointer
  /// Of the whole certificate in DER.
  package let fingerprint: CertificateFingerprint
  /// The first and the last moment of validity (RFC 5280 section 4.1.2.5), in milliseconds since
  /// the Unix epoch, both inclusive.
  package let validity: ClosedRange<Int64>
  /// What OpenSSL found in the extensions (`EXFLAG_…`).
  private let flags: UInt32

  /// Reads one certificate in DER that fills `der` exactly. Other encodings that mean the same (BER)
  /// are refused, so that each certificate has one text and one fingerprint.
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

  /// Whether the basic constraints of a version 3 certificate say that it is an authority.
  package var isAuthority: Bool {
    flags & UInt32(EXFLAG_CA) != 0 && flags & UInt32(EXFLAG_V1) == 0
  }

  /// How many authorities may stand between this one and the leaf; nil for any number.
  package var pathLengthLimit: Int? {
    let limit = X509_get_pathlen(pointer)
    return limit < 0 ? nil : limit
  }

  /// Whether the key usage is stated and allows signing certificates.
  package var mayIssueCertificates: Bool { hasKeyUsage(UInt32(KU_KEY_CERT_SIGN)) }

  /// Whether the key usage is stated and allows signing data.
  package var maySignData: Bool { hasKeyUsage(UInt32(KU_DIGITAL_SIGNATURE)) }

  /// Whether a critical extension is present that nobody judges, known to OpenSSL or not: such a
  /// certificate must not be relied on (RFC 5280 section 4.2).
  ///
  /// Judged are basic constraints and key usage, and certificate policies, of which any will do.
  ///
  /// - Parameter judged: the dotted object identifiers of others.
  package func hasUnknownCriticalExtension(besides judged: [String]) -> Bool {
    let known = [NID_basic_constraints, NID_key_usage, NID_certificate_policies]
    return (0..<X509_get_ext_count(pointer)).contains { index in
      let item = X509_get_ext(pointer, index)
      guard X509_EXTENSION_get_critical(item) == 1,
        let object = X509_EXTENSION_get_object(item), !known.contains(OBJ_obj2nid(object))
      else { return false }
      return !judged.contains { Self.isObject(object, named: $0) }
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

  /// Whether `issuer` issued this certificate: by name, key identifiers and key usage, and by the
  /// signature.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL had no memory for it.
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

  /// The key that the certificate speaks for.
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

  /// The subject's name in RFC 2253 form, for people to read.
  package var subject: String { text(of: X509_get_subject_name(pointer)) }

  /// The issuer's name in RFC 2253 form, for people to read.
  package var issuer: String { text(of: X509_get_issuer_name(pointer)) }

  private static func isObject(_ object: OpaquePointer, named identifier: String) -> Bool {
    guard let named = OBJ_txt2obj(identifier, 1) else {
      ERR_clear_error()
      return false
    }
    defer { ASN1_OBJECT_free(named) }
    return OBJ_cmp(object, named) == 0
  }

  /// The certificate in DER; what was signed stands in it as it came.
  private static func encoded(_ pointer: OpaquePointer) -> [UInt8] {
    var output: UnsafeMutablePointer<UInt8>?
    let length = i2d_X509(pointer, &output)
    defer { CRYPTO_free(output, nil, 0) }
    return Array(UnsafeBufferPointer(start: output, count: max(0, Int(length))))
  }

  private func hasKeyUsage(_ usage: UInt32) -> Bool {
    // Without the extension OpenSSL reports every usage: only a stated one counts here.
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
    // Dates of four-digit years: the product with 1000 cannot overflow.
    guard entitle_asn1_time_seconds(X509_get0_notBefore(pointer), &first) == 1,
      entitle_asn1_time_seconds(X509_get0_notAfter(pointer), &last) == 1, first <= last
    else {
      ERR_clear_error()
      throw CryptographyError(.malformedCertificate, "the validity dates cannot be read")
    }
    return first * 1_000...last * 1_000
  }
}
