import COpenSSL

/// Builds X.509 version 3 certificates (RFC 5280) for the simulated App Store and for tests.
package struct CertificateBuilder: Sendable {
  /// What the certificate's key may be used for.
  package enum Purpose: Hashable, Sendable {
    /// A CA. At most `pathLength` CAs may follow below it; nil for no limit.
    case authority(pathLength: Int?)
    /// Signs data.
    case signing
    /// Signs data but is also marked as a CA, as the certificate that StoreKit Testing in Xcode
    /// creates.
    case localSigning
    /// Signs receipts but is also marked as a CA and for code signing, as the other certificate of
    /// StoreKit Testing in Xcode.
    case localReceiptSigning
  }

  /// An extension by its object identifier.
  package struct Extension: Hashable, Sendable {
    /// In dotted decimal form.
    package var objectIdentifier: String
    package var isCritical: Bool
    /// The DER inside the extension's octet string.
    package var value: [UInt8]

    /// The default value is DER NULL, as in Apple's marker extensions.
    package init(
      objectIdentifier: String, isCritical: Bool = false, value: [UInt8] = [0x05, 0x00]
    ) {
      self.objectIdentifier = objectIdentifier
      self.isCritical = isCritical
      self.value = value
    }
  }

  /// The CA that signs a certificate.
  package struct Issuer: Sendable {
    /// In DER.
    package var certificate: [UInt8]
    package var key: any CertificateKey

    package init(certificate: [UInt8], key: any CertificateKey) {
      self.certificate = certificate
      self.key = key
    }
  }

  package var subject: DistinguishedName
  /// Positive, and unique for each issuer (RFC 5280 §4.1.2.2).
  package var serialNumber: UInt64
  /// First and last second of validity, both inclusive, since the Unix epoch.
  package var validity: ClosedRange<Int64>
  package var purpose: Purpose
  /// Whether the purpose also stands in a key usage extension. RFC 5280 lets an issuer's certificate
  /// do without (section 6.1.4 (n)).
  package var hasKeyUsage: Bool
  package var extensions: [Extension]

  package init(
    subject: DistinguishedName, serialNumber: UInt64, validity: ClosedRange<Int64>,
    purpose: Purpose, hasKeyUsage: Bool = true, extensions: [Extension] = []
  ) {
    self.subject = subject
    self.serialNumber = serialNumber
    self.validity = validity
    self.purpose = purpose
    self.hasKeyUsage = hasKeyUsage
    self.extensions = extensions
  }

  /// Creates a certificate for `key`, signed by `issuer`, or self-signed if it is nil. The signer's
  /// key determines the hash function: see ``CertificateKey/certificateDigestName``.
  ///
  /// - Returns: the certificate in DER.
  /// - Throws: ``CryptographyError``.
  package func certificate(
    for key: any CertificateKey, issuedBy issuer: Issuer? = nil
  ) throws(CryptographyError) -> [UInt8] {
    let certificate = try OwnedCertificate()
    let authority =
      if let issuer { try OwnedCertificate(der: issuer.certificate) } else { certificate }
    try setFields(of: certificate, key: key)
    try check(
      X509_set_issuer_name(certificate.pointer, X509_get_subject_name(authority.pointer)) == 1,
      "issuer")
    try addStandardExtensions(to: certificate, authority: authority)
    for item in extensions { try add(item, to: certificate) }
    let signer = issuer?.key ?? key
    let digest = EVP_get_digestbyname(signer.certificateDigestName)
    try check(
      digest != nil && signer.withPointer { X509_sign(certificate.pointer, $0, digest) } > 0,
      "signature")
    return try certificate.derBytes()
  }

  private func setFields(of certificate: OwnedCertificate, key: any CertificateKey)
    throws(CryptographyError)
  {
    let pointer = certificate.pointer
    try check(
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), serialNumber) == 1, "serial number")
    try check(
      ASN1_TIME_set(X509_getm_notBefore(pointer), time_t(validity.lowerBound)) != nil,
      "first day of validity")
    try check(
      ASN1_TIME_set(X509_getm_notAfter(pointer), time_t(validity.upperBound)) != nil,
      "last day of validity")
    for part in subject.parts {
      let value = Array(part.value.utf8)
      // Position -1 and set 0 append a separate RDN.
      try check(
        X509_NAME_add_entry_by_txt(
          X509_get_subject_name(pointer), part.name, V_ASN1_UTF8STRING, value,
          Int32(clamping: value.count), -1, 0) == 1,
        "subject")
    }
    try check(key.withPointer { X509_set_pubkey(pointer, $0) } == 1, "public key")
  }

  private func addStandardExtensions(
    to certificate: OwnedCertificate, authority: OwnedCertificate
  ) throws(CryptographyError) {
    let constraints: String
    let usage: String
    var extendedUsage: String?
    switch purpose {
    case .authority(let pathLength):
      constraints = "critical,CA:TRUE" + (pathLength.map { ",pathlen:\($0)" } ?? "")
      usage = "critical,keyCertSign,cRLSign"
    case .signing:
      constraints = "critical,CA:FALSE"
      usage = "critical,digitalSignature"
    case .localSigning:
      constraints = "critical,CA:TRUE,pathlen:0"
      usage = "critical,digitalSignature"
    case .localReceiptSigning:
      constraints = "critical,CA:TRUE"
      usage = "critical,digitalSignature,keyCertSign"
      extendedUsage = "critical,codeSigning"
    }
    // The subject key identifier is added first: the authority key identifier of a root copies it.
    let standard =
      [
        (NID_basic_constraints, constraints), (NID_key_usage, usage),
        (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid"),
      ] + (extendedUsage.map { [(NID_ext_key_usage, $0)] } ?? [])
    for (identifier, value) in standard where hasKeyUsage || identifier != NID_key_usage {
      var context = X509V3_CTX()
      X509V3_set_ctx(&context, authority.pointer, certificate.pointer, nil, nil, 0)
      let made = X509V3_EXT_conf_nid(nil, &context, identifier, value)
      defer { X509_EXTENSION_free(made) }
      try check(
        made != nil && X509_add_ext(certificate.pointer, made, -1) == 1, "standard extensions")
    }
  }

  private func add(_ item: Extension, to certificate: OwnedCertificate)
    throws(CryptographyError)
  {
    // 1: accept digits only, not names.
    let identifier = OBJ_txt2obj(item.objectIdentifier, 1)
    defer { ASN1_OBJECT_free(identifier) }
    let contents = ASN1_OCTET_STRING_new()
    defer { ASN1_OCTET_STRING_free(contents) }
    try check(
      identifier != nil && contents != nil
        && ASN1_OCTET_STRING_set(contents, item.value, Int32(clamping: item.value.count)) == 1,
      "extension \(item.objectIdentifier)")
    let made = X509_EXTENSION_create_by_OBJ(nil, identifier, item.isCritical ? 1 : 0, contents)
    defer { X509_EXTENSION_free(made) }
    try check(
      made != nil && X509_add_ext(certificate.pointer, made, -1) == 1,
      "extension \(item.objectIdentifier)")
  }

  private func check(_ isDone: Bool, _ part: String) throws(CryptographyError) {
    guard !isDone else { return }
    ERR_clear_error()
    throw CryptographyError(.libraryFault, "the certificate's \(part) could not be set")
  }
}

/// The subject or issuer name of a certificate, with the attributes that Apple's certificates use.
package struct DistinguishedName: Hashable, Sendable {
  package var commonName: String
  package var organizationalUnit: String?
  package var organization: String?
  /// Two letters (ISO 3166-1).
  package var country: String?

  package init(
    commonName: String, organizationalUnit: String? = nil, organization: String? = nil,
    country: String? = nil
  ) {
    self.commonName = commonName
    self.organizationalUnit = organizationalUnit
    self.organization = organization
    self.country = country
  }

  /// The attributes that are set, with their short names, in encoding order.
  var parts: [(name: String, value: String)] {
    var parts = [("CN", commonName)]
    if let organizationalUnit { parts.append(("OU", organizationalUnit)) }
    if let organization { parts.append(("O", organization)) }
    if let country { parts.append(("C", country)) }
    return parts.map { (name: $0.0, value: $0.1) }
  }
}
