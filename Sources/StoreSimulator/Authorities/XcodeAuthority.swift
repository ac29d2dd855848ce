package import Cryptography

/// Signs as StoreKit Testing in Xcode does: payloads with a P-256 certificate, and receipts with an
/// RSA certificate for code signing. Both are self-signed and stand alone, without marker
/// extensions. Receipts have indefinite lengths (BER).
///
/// Verifiers accept both for Xcode and LocalTesting only, if the operator named the certificates.
package struct XcodeAuthority: SimulatedSigner {
  package let signing: AuthorityMember<SigningKey>
  package let receipts: AuthorityMember<RSASigningKey>
  /// SHA-256 of the certificate that signs payloads.
  package let fingerprint: CertificateFingerprint
  /// SHA-256 of the certificate that signs receipts.
  package let receiptFingerprint: CertificateFingerprint
  private let headerSegment: [UInt8]

  /// - Throws: ``SimulatorError/Code/cryptography`` when one is not a certificate.
  package init(
    signing: AuthorityMember<SigningKey>, receipts: AuthorityMember<RSASigningKey>
  ) throws(SimulatorError) {
    self.signing = signing
    self.receipts = receipts
    (fingerprint, receiptFingerprint) = try SimulatorError.wrapping {
      () throws(CryptographyError) in
      (
        try Certificate(der: signing.certificate).fingerprint,
        try Certificate(der: receipts.certificate).fingerprint
      )
    }
    headerSegment = SigningAuthority.headerSegment(
      chain: [signing.certificate], keyIdentifier: "Apple_Xcode_Key")
  }

  /// Generates keys and certificates that are valid over the whole range of the simulated clock.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package static func generate() throws(SimulatorError) -> XcodeAuthority {
    let (signing, receipts) = try SimulatorError.wrapping { () throws(CryptographyError) in
      let key = try SigningKey.generate(.p256)
      let receiptKey = try RSASigningKey.generate()
      return (
        AuthorityMember(
          certificate: try builder("Simulated StoreKit Testing", .localSigning)
            .certificate(for: key), key: key),
        AuthorityMember(
          certificate: try builder("Simulated StoreKit", .localReceiptSigning)
            .certificate(for: receiptKey), key: receiptKey)
      )
    }
    return try XcodeAuthority(signing: signing, receipts: receipts)
  }

  package func sign(payloadJSON: [UInt8]) throws(SimulatorError) -> String {
    try SigningAuthority.sign(payloadJSON: payloadJSON, header: headerSegment, by: signing.key)
  }

  /// Signs a receipt. The same receipt gives the same bytes.
  ///
  /// - Returns: CMS SignedData with indefinite lengths, with the certificate embedded.
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func sign(_ receipt: SimulatedReceipt) throws(SimulatorError) -> [UInt8] {
    try sign(receiptContent: try receipt.content())
  }

  /// Signs any content as if it were a receipt's.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func sign(
    receiptContent content: [UInt8], form: CMSBuilder.Form = .indefiniteLengths
  ) throws(SimulatorError) -> [UInt8] {
    let builder = CMSBuilder(
      signerCertificate: receipts.certificate, signerKey: receipts.key,
      embeddedCertificates: [receipts.certificate])
    return try SimulatorError.wrapping { () throws(CryptographyError) in
      try builder.signedData(over: content, digest: .sha256, form: form)
    }
  }

  private static func builder(
    _ commonName: String, _ purpose: CertificateBuilder.Purpose
  ) -> CertificateBuilder {
    CertificateBuilder(
      subject: DistinguishedName(commonName: commonName, organization: commonName),
      serialNumber: 1, validity: AuthorityChain<SigningKey>.validitySeconds, purpose: purpose)
  }
}

extension XcodeAuthority {
  /// Loads the authority from the directory of a ``SigningAuthority``, or generates and saves one
  /// there, so that the fingerprints stay the same between runs.
  ///
  /// Keys and certificates are PEM files that only their owner can read.
  ///
  /// - Throws: ``SimulatorError/Code/file``, ``SimulatorError/Code/damagedAuthority`` when some of
  ///   the files are missing or do not belong together, ``SimulatorError/Code/cryptography``.
  package static func loadOrCreate(inDirectory path: String) throws(SimulatorError)
    -> XcodeAuthority
  {
    let directory = PrivateDirectory(path: path)
    try directory.create()
    return try directory.withExclusiveLock { () throws(SimulatorError) in
      let advice = "remove the other xcode*.pem files to generate new ones"
      let signing = AuthorityMember<SigningKey>.Files(
        directory: directory, name: "xcode", advice: advice)
      let receipts = AuthorityMember<RSASigningKey>.Files(
        directory: directory, name: "xcode-receipt", advice: advice)
      let isPresent = try signing.existInPart() ? true : receipts.existInPart()
      guard isPresent else {
        let authority = try generate()
        try authority.signing.save(to: signing)
        try authority.receipts.save(to: receipts)
        return authority
      }
      return try XcodeAuthority(
        signing: try AuthorityMember(from: signing), receipts: try AuthorityMember(from: receipts))
    }
  }
}
