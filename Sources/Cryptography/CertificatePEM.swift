import COpenSSL

/// PEM files with one certificate.
package enum CertificatePEM {
  /// - Parameter certificate: one certificate in DER.
  /// - Throws: ``CryptographyError/Code/malformedCertificate`` or
  ///   ``CryptographyError/Code/libraryFault``.
  package static func encode(_ certificate: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let parsed = try OwnedCertificate(der: certificate)
    let output = try MemoryBuffer()
    guard PEM_write_bio_X509(output.pointer, parsed.pointer) == 1 else {
      throw CryptographyError(.libraryFault, "the certificate could not be written")
    }
    return output.bytes
  }

  /// Reads the first certificate of a PEM file, in DER.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPEM`` when there is none.
  package static func decode(_ pem: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let input = try MemoryBuffer(holding: pem)
    guard let pointer = PEM_read_bio_X509(input.pointer, nil, nil, nil) else {
      ERR_clear_error()
      throw CryptographyError(.malformedPEM, "no certificate in the PEM file")
    }
    let parsed = OwnedCertificate(owning: pointer)
    return try parsed.derBytes()
  }
}

extension Certificate {
  /// Reads the certificates of a file: one in DER, or any number in PEM.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPEM`` when the file has no certificate or a
  ///   damaged block, or ``CryptographyError/Code/malformedCertificate``.
  package static func certificates(
    inFile contents: [UInt8]
  ) throws(CryptographyError) -> [Certificate] {
    // A DER certificate is a sequence; PEM is text.
    if contents.first == 0x30 { return [try Certificate(der: contents)] }
    var certificates: [Certificate] = []
    for der in try blocks(inPEM: contents) {
      certificates.append(try Certificate(der: der))
    }
    guard !certificates.isEmpty else {
      throw CryptographyError(.malformedPEM, "no certificate in PEM or DER")
    }
    return certificates
  }

  /// The contents of the certificate blocks, in order. Other blocks are skipped.
  private static func blocks(inPEM text: [UInt8]) throws(CryptographyError) -> [[UInt8]] {
    let input = try MemoryBuffer(holding: text)
    // OpenSSL reports the end of the text as an error, so earlier errors must be cleared.
    ERR_clear_error()
    defer { ERR_clear_error() }
    var blocks: [[UInt8]] = []
    var count = 0
    while let block = try nextBlock(of: input) {
      count += 1
      let isCertificate = block.name == PEM_STRING_X509 || block.name == PEM_STRING_X509_OLD
      if isCertificate { blocks.append(block.contents) }
    }
    // OpenSSL skips a block without a BEGIN line, and joins a block without an END line to the next
    // one.
    guard lineCount("-----BEGIN ", in: text) == count, lineCount("-----END ", in: text) == count
    else { throw damagedBlock }
    return blocks
  }

  private static func lineCount(_ beginning: String, in text: [UInt8]) -> Int {
    text.split(separator: UInt8(ascii: "\n")).count { $0.starts(with: beginning.utf8) }
  }

  private static var damagedBlock: CryptographyError {
    CryptographyError(.malformedPEM, "a block of the PEM file is damaged")
  }

  /// - Returns: nil at the end of the text.
  private static func nextBlock(
    of input: MemoryBuffer
  ) throws(CryptographyError) -> (name: String, contents: [UInt8])? {
    var name: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var contents: UnsafeMutablePointer<UInt8>?
    var length = 0
    guard PEM_read_bio(input.pointer, &name, &header, &contents, &length) == 1 else {
      // Any other error, and a failure without an error, is a damaged block. It must not be
      // skipped, because the blocks after it would be lost.
      let error = ERR_peek_last_error()
      guard ERR_GET_LIB(error) == ERR_LIB_PEM, ERR_GET_REASON(error) == PEM_R_NO_START_LINE else {
        throw damagedBlock
      }
      return nil
    }
    defer {
      CRYPTO_free(name, nil, 0)
      CRYPTO_free(header, nil, 0)
      CRYPTO_free(contents, nil, 0)
    }
    guard let name, let contents else {
      throw CryptographyError(.libraryFault, "a block of the PEM file has no contents")
    }
    return (
      String(cString: name), Array(UnsafeBufferPointer(start: contents, count: length))
    )
  }
}
