import COpenSSL

extension Certificate {
  /// The certificates of a file: one in DER, or any number in PEM.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPEM`` when it holds no certificate, or
  ///   ``CryptographyError/Code/malformedCertificate``.
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

  /// The contents of the PEM blocks that are certificates, in order; others are passed over.
  private static func blocks(inPEM text: [UInt8]) throws(CryptographyError) -> [[UInt8]] {
    let input = try MemoryBuffer(holding: text)
    // The end of the text shows as an error of its own.
    defer { ERR_clear_error() }
    var blocks: [[UInt8]] = []
    while let block = nextBlock(of: input) {
      let isCertificate = block.name == PEM_STRING_X509 || block.name == PEM_STRING_X509_OLD
      if isCertificate { blocks.append(block.contents) }
    }
    return blocks
  }

  private static func nextBlock(of input: MemoryBuffer) -> (name: String, contents: [UInt8])? {
    var name: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var contents: UnsafeMutablePointer<UInt8>?
    var length = 0
    guard PEM_read_bio(input.pointer, &name, &header, &contents, &length) == 1 else { return nil }
    defer {
      CRYPTO_free(name, nil, 0)
      CRYPTO_free(header, nil, 0)
      CRYPTO_free(contents, nil, 0)
    }
    guard let name, let contents else { return nil }
    return (
      String(cString: name), Array(UnsafeBufferPointer(start: contents, count: length))
    )
  }
}
